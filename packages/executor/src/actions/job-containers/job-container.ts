import { setTimeout as sleep } from "node:timers/promises";
import { createObject, type Environment, type EnvironmentRecord, type RuntimeString } from "@steps/model";
import type { Run } from "../../run.ts";
import { COOKIE_VARIABLE } from "../../terminate.ts";
import type { ActionCommand } from "../action-process.ts";
import { clientVariables } from "../container-client.ts";
import { passVariables } from "../docker-command.ts";
import type { ContainerCli } from "../find-container-cli.ts";
import { runBriefly } from "../run-briefly.ts";
import { RUN_SCRIPT, SIGNAL_SCRIPT } from "./container-scripts.ts";

/** The container that the steps of a job run in. */
export interface JobContainer {
  readonly cli: ContainerCli;
  readonly name: string;
  /** Of the daemon. */
  readonly id: string;
  /** What runs a file of JavaScript in it; absent: nothing does. */
  readonly nodeCommand: readonly string[] | undefined;
  /** Makes ports of the runner's loopback ports of the container's own. */
  readonly reach?: (ports: readonly number[]) => Promise<void>;
}

/** What is to run in it. */
export interface ContainerProcess {
  readonly command: readonly string[];
  /** Absolute, in the container. */
  readonly workDir: string;
  /** All that the process is to have. */
  readonly env: EnvironmentRecord;
  /** Of the step: what the container has of itself is below it. */
  readonly environment: Environment;
}

const SIGNAL_TIMEOUT_MS = 10_000;
/** How long the client may take to notice that there is nothing left. */
const CLIENT_END_MS = 300;

/** The command of the client that runs a process in the container, and what ends that. */
export function commandInContainer(run: Run, container: JobContainer, process: ContainerProcess): ActionCommand {
  const { cli, name } = container;
  const { command, workDir } = process;
  // As it stands in `STEP_RUNNER_COOKIE`, in front of the path of the step.
  const mark = `${run.request.cookie}:`;
  const passed = passVariables(ownVariables(process), clientVariables());
  const words = [...passed.options, "--env", COOKIE_VARIABLE, name, "/bin/sh", "-c", RUN_SCRIPT, mark, workDir];
  const client = {
    command: ["docker", "exec", ...words, ...command],
    workDir: run.request.workDir,
    env: Object.assign(createObject<RuntimeString>(), passed.env),
    sendSignal: (signal: "SIGTERM" | "SIGKILL") => sendSignal(container, mark, signal),
  };
  return { command, program: cli.program, workDir, env: process.env, client };
}

// The client gives the container's own variables to every process of it.
function ownVariables({
  env,
  environment,
}: Pick<ContainerProcess, "env" | "environment">): Record<string, RuntimeString> {
  const declared = environment.declared();
  const { base } = environment;
  const own = createObject<RuntimeString>();
  for (const [name, value] of Object.entries(env)) {
    if (Object.hasOwn(base, name) && base[name] === value && !Object.hasOwn(declared, name)) continue;
    own[name] = value;
  }
  return own;
}

/** The environment of a program that the runner starts itself in a job with a container: what is the container's own is not for it. */
export function outsideOfContainer(env: EnvironmentRecord, environment: Environment, run: Run): EnvironmentRecord {
  const outside = run.request.environment.base;
  const own = ownVariables({ env, environment });
  const path = outside["PATH"];
  return Object.assign(createObject<RuntimeString>(), outside, own, path === undefined ? {} : { PATH: path });
}

async function sendSignal({ cli, name }: JobContainer, mark: string, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
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
