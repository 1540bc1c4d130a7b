import { clientVariables, passVariables } from "@steps/containers";
import { type Job, mapObject, revealString } from "@steps/model";
import { findProgram } from "@steps/platform/processes";
import type { EndedContainer } from "../job-containers/run-placed-job.ts";

/** A shell to be started. */
export interface ShellCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder on this machine that it is started in: absolute. */
  readonly workDir: string;
  /** The place that the shell is in, for the user. */
  readonly place: string;
}

const IN_CONTAINER = "if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi";

/** The shell of a job in its folder on this machine, or in its container. */
export function shellCommand(job: Job, container: EndedContainer | undefined): ShellCommand {
  const { workDir } = job;
  const own = { ...job.env, ...job.vars, ...job.grants };
  const variables = mapObject(own, revealString);
  if (container === undefined) {
    const { HOME, TERM } = process.env;
    return {
      program: findShell(),
      args: ["-i"],
      env: { HOME, TERM, ...variables },
      workDir,
      place: `its folder ${workDir}`,
    };
  }
  const { cli, name, projectDir } = container;
  const { options, env } = passVariables(variables, clientVariables());
  const { TERM = "xterm" } = process.env;
  const terminal = ["--interactive", "--tty", `--env=TERM=${TERM}`, `--workdir=${projectDir}`];
  return {
    program: cli.program,
    args: ["exec", ...terminal, ...options, name, "sh", "-c", IN_CONTAINER],
    env,
    workDir,
    place: `its container, in ${projectDir}`,
  };
}

function findShell(): string {
  const { SHELL = "", PATH } = process.env;
  const places = { path: PATH, workDir: "/" };
  const found = [SHELL, "bash", "sh"].map((name) => findProgram(name, places)).find((file) => file !== undefined);
  return found ?? "/bin/sh";
}
