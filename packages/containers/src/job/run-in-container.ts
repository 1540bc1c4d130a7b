import { setTimeout as sleep } from "node:timers/promises";
import { runBriefly } from "@steps/platform/processes";
import type { ContainerCli } from "../client/find-container-cli.ts";
import { KEEP_SCRIPT, RUN_SCRIPT, SIGNAL_SCRIPT } from "./container-scripts.ts";

/** A container that runs. */
export interface RunningContainer {
  readonly cli: ContainerCli;
  readonly name: string;
}

/** A process for it. */
export interface ProcessInContainer {
  readonly command: readonly string[];
  /** Absolute, in the container. */
  readonly workDir: string;
  /** Options of the client: `passVariables()`. */
  readonly options: readonly string[];
  /** In the value of a variable of the process: `signalInContainer()` finds it, and what it has started, by that. */
  readonly mark: string;
  /** True when processes in the background may continue until the container ends; otherwise they end with the call. */
  readonly mayLeave: boolean;
}

const SIGNAL_TIMEOUT_MS = 10_000;
/** How long the client may take to notice that there is nothing left. */
const CLIENT_END_MS = 300;

/** The arguments of the client that run a process. */
export function execArguments({ name }: Pick<RunningContainer, "name">, process: ProcessInContainer): string[] {
  const { command, workDir, options, mark, mayLeave } = process;
  const script = mayLeave ? KEEP_SCRIPT : RUN_SCRIPT;
  return ["exec", ...options, name, "/bin/sh", "-c", script, mark, workDir, ...command];
}

/** Sends a signal to the processes with a mark: a signal to the client does not reach them. Takes 10 s at most; never rejects. */
export async function signalInContainer(
  { cli, name }: RunningContainer,
  mark: string,
  signal: "SIGTERM" | "SIGKILL",
): Promise<void> {
  const script = ["/bin/sh", "-c", SIGNAL_SCRIPT, "sh", signal.slice("SIG".length), mark];
  await runBriefly({
    program: cli.program,
    // A step may have become another user.
    args: ["exec", "--user=0", name, ...script],
    env: process.env,
    timeoutMs: SIGNAL_TIMEOUT_MS,
  });
  if (signal === "SIGKILL") await sleep(CLIENT_END_MS);
}
