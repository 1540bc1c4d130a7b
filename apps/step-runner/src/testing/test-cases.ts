import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hideEnvironment } from "../environment/hide-environment.ts";
import { type EngineFlagOptions, openEngine } from "../open-engine.ts";
import { runCases } from "./run-cases.ts";
import type { CaseResult, TestCase } from "./test-case.ts";

/** The options of a call that say how cases are run. */
interface TestOptions extends EngineFlagOptions {
  readonly jobs: number;
  readonly timeout: number;
  readonly lenient: boolean;
}

/** Runs cases with one engine, whose runs are forgotten afterwards: a test leaves nothing behind. */
export async function testCases(
  cases: readonly TestCase[],
  options: TestOptions,
  signal: AbortSignal,
  tell: (result: CaseResult) => void,
): Promise<readonly CaseResult[]> {
  hideEnvironment();
  const stateDir = mkdtempSync(join(tmpdir(), "step-runner-test-"));
  try {
    await using engine = openEngine({ ...options, stateDir, traceSync: "none" });
    const { lenient: isLenient, timeout: timeoutMs } = options;
    return await runCases(cases, options.jobs, { engine, signal, timeoutMs, isLenient }, tell);
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}
