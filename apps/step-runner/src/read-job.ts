import { flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { dirname } from "node:path";
import { listJobs, translateJob, type TranslatedJob } from "@steps/gitlab-ci";
import type { LoadPipelineOptions } from "@steps/gitlab-ci/load";
import type { Source } from "@steps/model/diagnostic";
import { type MaskOptions, showDiagnostics } from "./diagnose.ts";
import { readSource } from "./read-source.ts";
import { type GivenOptions, variablesFromEnvironment } from "./job-flags.ts";
import { projectFiles } from "./project-files.ts";
import { absolute } from "./absolute.ts";

/** Flags of commands that read a job of a CI file. */
export const jobFlags = {
  "job-name": flag.text({ placeholder: "NAME", summary: "The job; not needed when the file has only one" }),
  variable: flag.pairs({
    summary: "A job variable that wins over that of the file; the value is taken as it stands; repeat for more",
  }),
  ...grouped("The file", {
    format: flag.choice(["auto", "gitlab-ci", "github"], {
      summary: "What kind of file it is",
      default: "auto",
    }),
    "work-dir": flag.path({
      placeholder: "DIR",
      summary: "The project's directory; the folder of the file by default",
    }),
  }),
  ...grouped("A workflow of GitHub", {
    input: flag.list({
      placeholder: "NAME=VALUE",
      summary: "An input of a workflow (workflow_dispatch, workflow_call); repeat for more",
    }),
  }),
};

/** The options that name a job of a CI file. */
export type JobOptions = OptionsOf<typeof jobFlags>;

/** The job variables that flags give: one by one before those of the environment. */
export function givenVariables(options: Pick<JobOptions, "variable"> & Partial<GivenOptions>): Record<string, string> {
  return { ...variablesFromEnvironment(options), ...options.variable };
}

/** A job with where it runs. */
export interface LocalJob {
  readonly job: TranslatedJob;
  readonly workDir: string;
}

/** The options of a command that say something about a job that is read. */
export type ReadJobOptions = JobOptions & Partial<GivenOptions> & MaskOptions;

/** Reads the job that the flags name and shows what is wrong with it. `undefined` if it cannot run. @throws {UsageError} */
export function readJob(
  options: ReadJobOptions,
  path: string,
  name: string | undefined = options.jobName,
): LocalJob | undefined {
  const { source, workDir, jobName, loading, overrides } = findJob(options, path, name);
  const predefined = { ...knownOf(workDir), CI_JOB_NAME: jobName };
  const { job, diagnostics } = translateJob(source, { jobName, predefined, overrides, loading });
  showDiagnostics(options, diagnostics);
  return job === undefined ? undefined : { job, workDir };
}

/** A job that the flags name, with its file and where it runs. */
export interface FoundJob {
  readonly source: Source;
  readonly workDir: string;
  readonly jobName: string;
  /** How to get at what the file includes. */
  readonly loading: LoadPipelineOptions;
  /** The job variables that flags give. */
  readonly overrides: Readonly<Record<string, string>>;
}

/** Finds the job that the flags name, or the only one of the file. @throws {UsageError} */
export function findJob(options: ReadJobOptions, path: string, name: string | undefined = options.jobName): FoundJob {
  const source: Source = readSource(path);
  if (options.input.length > 0) throw new UsageError("--input is given", "Only workflows of GitHub take inputs.");
  const workDir = options.workDir ?? absolute(dirname(path));
  const overrides = givenVariables(options);
  const loading = projectFiles(workDir, { ...knownOf(workDir), ...overrides });
  return { source, workDir, jobName: name ?? onlyJob(options, source, loading), loading, overrides };
}

/** The variables that are known of every job that runs here. */
function knownOf(workDir: string): Readonly<Record<string, string>> {
  return { CI: "true", GITLAB_CI: "true", CI_PROJECT_DIR: workDir };
}

function onlyJob(options: MaskOptions, source: Source, loading: LoadPipelineOptions): string {
  const { jobs, diagnostics } = listJobs(source, loading);
  const [only] = jobs;
  if (only !== undefined && jobs.length === 1) return only;
  if (jobs.length === 0) {
    showDiagnostics(options, diagnostics);
    throw new UsageError(`"${source.name}" has no job`);
  }
  throw new UsageError(
    `"${source.name}" has ${jobs.length} jobs`,
    `Choose one with --job-name: ${jobs.slice(0, 20).join(", ")}`,
  );
}
