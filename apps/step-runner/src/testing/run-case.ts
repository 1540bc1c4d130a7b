import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compileStepList } from "@steps/compiler";
import type { Engine, RunHooks } from "@steps/engine";
import type { Value } from "@steps/model";
import { hasErrors } from "@steps/model/diagnostic";
import { stepsEnvironment } from "../flags/job-flags.ts";
import { withFlags } from "../run/command-job.ts";
import { compareCase } from "./compare-case.ts";
import type { CaseResult, Difference, TestCase } from "./test-case.ts";

type JournalEvent = Parameters<NonNullable<RunHooks["onEvent"]>>[0];
type Finished = Extract<JournalEvent, { readonly type: "step-finished" }>;

/** The way a case is run. */
export interface CaseOptions {
  readonly engine: Engine;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly isLenient: boolean;
}

/** How much output of a case is kept to look for messages in, and to be shown. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Runs a case in an empty folder of its own, which is removed afterwards, and compares. */
export async function runCase(test: TestCase, options: CaseOptions): Promise<CaseResult> {
  const start = performance.now();
  const ended = (differences: readonly Difference[], output = "", isCancelled = false): CaseResult => {
    return { case: test, differences, output, durationMs: performance.now() - start, isCancelled };
  };
  const list = [stepOf(test)];
  const compiled = compileStepList({ name: test.file, text: JSON.stringify(list) }, { isLenient: options.isLenient });
  const { specDefinition } = compiled;
  if (specDefinition === undefined || hasErrors(compiled.diagnostics))
    return ended([{ what: "the call of the step", expected: "no errors", actual: problems(compiled.diagnostics) }]);
  const folder = mkdtempSync(join(tmpdir(), "step-runner-case-"));
  try {
    for (const [path, text] of Object.entries(test.files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const watched = new Watched();
    const { vars } = test;
    const env = stepsEnvironment({ strictEnv: false, jobEnv: false, stateDir: options.engine.stateDir }, vars);
    const place = { inputs: {}, vars, env, workDir: folder, baseDir: test.folder };
    const job = withFlags(flagsOf(test), {
      entry: "run",
      name: test.name,
      source: test.file,
      specDefinition,
      ...place,
    });
    const { isLenient, timeoutMs, signal } = options;
    const run = await options.engine.run({ job, isLenient, timeoutMs }, watched.hooks, signal);
    const { outputs = {}, exports = {} } = watched.finished ?? {};
    const { exitCode: exit, outcome } = run;
    const output = watched.output();
    if (signal.aborted) return ended([], output, true);
    const happened = { exit, outputs: plain(outputs), exports: plain(exports), folder, output };
    return ended(compareCase(test.expect, { ...happened, failure: outcome.error?.message }), output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The call as an item of a list: the step is granted all secrets of the case. */
function stepOf({ step, inputs, env, secrets }: TestCase): object {
  const granted = Object.keys(secrets).map((name) => [name, `\${{ secrets["${name}"] }}`] as const);
  return { name: "step", step, inputs, env, secrets: granted.length === 0 ? undefined : Object.fromEntries(granted) };
}

function flagsOf({ secrets }: TestCase): Parameters<typeof withFlags>[0] {
  return {
    mask: [],
    maskVariable: [],
    secret: secrets,
    sensitive: "error",
    lenient: false,
    compat: undefined,
    strictMoa: false,
    strictVars: false,
  };
}

function problems(diagnostics: Parameters<typeof hasErrors>[0]): string {
  return diagnostics.map(({ message }) => message).join("\n");
}

/** Values as events hold them; a secret one is known as `[MASKED]` alone. */
function plain(values: Finished["outputs"]): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(values).map(([name, { value }]) => [name, value === undefined ? "[MASKED]" : value]),
  );
}

/** Keeps what a case prints, and the end of its step. */
class Watched {
  finished: Finished | undefined;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  readonly hooks: RunHooks = {
    wantsTrace: false,
    onEvent: (event) => {
      if (event.type === "step-finished" && event.path === "0") this.finished = event;
    },
    onOutput: (_stream, chunk) => {
      const room = MAX_OUTPUT_BYTES - this.#bytes;
      if (room > 0) this.#chunks.push(Uint8Array.from(chunk.subarray(0, room)));
      this.#bytes += chunk.length;
    },
  };

  output(): string {
    return Buffer.concat(this.#chunks).toString("utf8");
  }
}
