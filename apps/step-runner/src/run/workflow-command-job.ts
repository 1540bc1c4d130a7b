import { flag, type OptionsOf } from "@steps/console";
import { baseEnvironment, type EnvironmentOptions } from "../flags/job-flags.ts";
import type { LocalWorkflowJob } from "../input/read-workflow-job.ts";
import type { CommandJob } from "./command-job.ts";
import type { RunDefaults } from "./run-job.ts";

/** The flag that gives the steps of a workflow the user's own home. */
export const homeFlag = {
  home: flag.boolean({
    summary: "The steps of a workflow get your own HOME; by default a job has an empty one, which goes with it",
  }),
};

type Options = OptionsOf<typeof homeFlag> & Pick<EnvironmentOptions, "strictEnv" | "jobEnv">;

/** A compiled job of a workflow with what its run is given beside the flags. */
export interface WorkflowRun extends LocalWorkflowJob {
  /** The file of the workflow, as it was named. */
  readonly path: string;
  /** The job variables that the user gave; they win over `variables`. */
  readonly vars: Readonly<Record<string, string>>;
}

/** A job of a workflow as the engine runs it. @param name the name that it is shown with */
export function workflowCommandJob(options: Options, name: string, run: WorkflowRun): CommandJob {
  const { specDefinition, positionOf, job, workDir, variables, path, vars } = run;
  const known = { CI_JOB_NAME: job.id, CI_PROJECT_DIR: workDir };
  return {
    entry: "local",
    name,
    source: path,
    specDefinition,
    positionOf,
    inputs: {},
    vars: { ...variables, ...known, ...vars },
    env: workflowEnvironment(options, vars),
    workDir,
    baseDir: workDir,
  };
}

/** The time limit that a job of a workflow has of its own, in milliseconds. */
export function workflowTimeout({ job: { timeoutMinutes } }: Pick<WorkflowRun, "job">): RunDefaults["timeoutMs"] {
  return timeoutMinutes === undefined ? undefined : timeoutMinutes * 60_000;
}

// Without a HOME the job has one of its own.
function workflowEnvironment(options: Options, vars: Readonly<Record<string, string>>): Record<string, string> {
  const { HOME, ...env } = baseEnvironment(options, vars);
  return options.home && HOME !== undefined ? { ...env, HOME } : env;
}
