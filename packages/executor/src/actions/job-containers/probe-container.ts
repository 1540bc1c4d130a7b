import { createObject, type EnvironmentRecord, type RuntimeString } from "@steps/model";
import { ExecuteError } from "../../execute-error.ts";
import { type Run, tell } from "../../run.ts";
import type { ActionScope } from "../action-scope.ts";
import type { ContainerCli } from "../find-container-cli.ts";
import { runBriefly } from "../run-briefly.ts";
import { PROBE_SCRIPT } from "./container-scripts.ts";
import { endOfLog, inspectContainer } from "./inspect-container.ts";

const TIMEOUT_MS = 30_000;
/** What the engine gives to a container whose image says nothing. */
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** What a job's container turned out to be. */
export interface ProbedContainer {
  readonly id: string;
  readonly env: EnvironmentRecord;
  readonly nodeCommand: readonly string[] | undefined;
}

interface Probe {
  readonly cli: ContainerCli;
  readonly container: string;
  readonly scope: ActionScope;
  /** Of the Node.js that was carried along. */
  readonly nodeCommand: readonly string[] | undefined;
}

/** Looks at a job's container before its first step. @throws {ExecuteError} CONTAINER_FAILED */
export async function probeContainer(run: Run, probe: Probe): Promise<ProbedContainer> {
  const { cli, container, scope, nodeCommand } = probe;
  const { id, isRunning, exitCode, env } = await inspectContainer(cli, container, run.signal);
  if (!isRunning) {
    const said = (await endOfLog(cli, container)).trim().split("\n").at(-1) ?? "";
    throw new ExecuteError("CONTAINER_FAILED", `container: it has ended with exit status ${exitCode}: ${said}`);
  }
  const args = ["exec", container, "/bin/sh", "-c", PROBE_SCRIPT, "sh", scope.job.dirs.temp];
  const { program } = cli;
  const { signal } = run;
  const answer = await runBriefly({ program, args, env: process.env, timeoutMs: TIMEOUT_MS, signal });
  if (answer.exitCode !== 0) {
    const said = `${answer.stderr}${answer.stdout}`.trim().split("\n").at(-1) ?? "";
    throw new ExecuteError("CONTAINER_FAILED", `container: nothing can be run in it: ${said}`);
  }
  const lines = answer.stdout.split("\n");
  if (!lines.includes("writable")) warnUser(run, lines);
  const base = Object.assign(createObject<RuntimeString>(), { PATH: DEFAULT_PATH }, env);
  return { id, env: base, nodeCommand: nodeCommand ?? (lines.includes("node") ? ["node"] : undefined) };
}

function warnUser(run: Run, lines: readonly string[]): void {
  const user = lines.find((line) => line.startsWith("uid="))?.slice("uid=".length) ?? "?";
  const message = `The container runs as user ${user}, who cannot write to the files of the job: steps may fail; "options: --user 0" makes it root`;
  tell(run, { type: "note", at: Date.now(), path: "", level: "warning", code: "container-user", message });
}
