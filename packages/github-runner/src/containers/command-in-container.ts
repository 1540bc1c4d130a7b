import { clientVariables, passVariables } from "@steps/containers";
import { execArguments, signalInContainer } from "@steps/containers/job";
import { COOKIE_VARIABLE, type Run } from "@steps/executor/kit";
import { createObject, type RuntimeString } from "@steps/model";
import type { Environment, EnvironmentRecord } from "@steps/model/environment";
import type { JobContainer } from "../job/job-container.ts";
import type { ActionCommand } from "../process/action-command.ts";

/** A process to run in a container. */
export interface ContainerProcess {
  readonly command: readonly string[];
  /** Absolute, in the container. */
  readonly workDir: string;
  /** All that the process is to have. */
  readonly env: EnvironmentRecord;
  /** The environment of the step, above the variables that the container has of itself. */
  readonly environment: Environment;
}

/** The command of the client that runs a process in the container, and what ends that. */
export function commandInContainer(run: Run, container: JobContainer, process: ContainerProcess): ActionCommand {
  const { cli } = container;
  const { command, workDir } = process;
  // As it stands in `STEP_RUNNER_COOKIE`, in front of the path of the step.
  const mark = `${run.cookie}:`;
  const passed = passVariables(ownVariables(process), clientVariables());
  const options = [...passed.options, "--env", COOKIE_VARIABLE];
  const words = execArguments(container, { command, workDir, options, mark, mayLeave: run.left !== undefined });
  const client = {
    command: ["docker", ...words],
    workDir: run.job.workDir,
    env: Object.assign(createObject<RuntimeString>(), passed.env),
    sendSignal: (signal: "SIGTERM" | "SIGKILL") => signalInContainer(container, mark, signal),
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
  const outside = run.environment.base;
  const own = ownVariables({ env, environment });
  const path = outside["PATH"];
  return Object.assign(createObject<RuntimeString>(), outside, own, path === undefined ? {} : { PATH: path });
}
