import { type CommandLine, type Flags, grouped, UsageError } from "@steps/console";
import { dirname } from "node:path";
import { listJobs, translateJob, type TranslatedJob } from "@steps/gitlab-ci";
import type { Source } from "@steps/model";
import { showDiagnostics } from "./diagnose.ts";
import { readSource } from "./read-source.ts";
import { variablesFromEnvironment } from "./job-flags.ts";
import { absolute } from "./absolute.ts";

/** Flags of commands that read a job of a CI file. */
export const jobFlags: Flags = {
  "job-name": { type: "string", placeholder: "NAME", summary: "The job; not needed when the file has only one" },
  variable: {
    type: "pairs",
    summary: "A job variable that wins over that of the file; the value is taken as it stands; repeat for more",
  },
  ...grouped("The file", {
    format: {
      type: "string",
      summary: "What kind of file it is",
      choices: ["auto", "gitlab-ci", "github"],
      default: "auto",
    },
    "work-dir": {
      type: "string",
      placeholder: "DIR",
      summary: "The project's directory; the folder of the file by default",
    },
  }),
  ...grouped("A workflow of GitHub", {
    input: {
      type: "list",
      placeholder: "NAME=VALUE",
      summary: "An input of a workflow (workflow_dispatch, workflow_call); repeat for more",
    },
  }),
};

/** The job variables that flags give: one by one before those of the environment. @throws {UsageError} */
export function givenVariables(line: CommandLine): Record<string, string> {
  return { ...variablesFromEnvironment(line), ...line.pairs("variable") };
}

/** A job with where it runs. */
export interface LocalJob {
  readonly job: TranslatedJob;
  readonly workDir: string;
}

/** Reads the job that the flags name and shows what is wrong with it. `undefined` if it cannot run. @throws {UsageError} */
export function readJob(
  line: CommandLine,
  path: string,
  name: string | undefined = line.string("job-name"),
): LocalJob | undefined {
  const source: Source = readSource(path);
  if (line.list("input").length > 0) throw new UsageError("--input is given", "Only workflows of GitHub take inputs.");
  const workDir = absolute(line.string("work-dir") ?? dirname(path));
  const jobName = name ?? onlyJob(line, source);
  if (jobName === undefined) return undefined;
  const predefined = { CI: "true", GITLAB_CI: "true", CI_PROJECT_DIR: workDir, CI_JOB_NAME: jobName };
  const { job, diagnostics } = translateJob(source, { jobName, predefined, overrides: givenVariables(line) });
  showDiagnostics(line, diagnostics);
  return job === undefined ? undefined : { job, workDir };
}

function onlyJob(line: CommandLine, source: Source): string | undefined {
  const { jobs, diagnostics } = listJobs(source);
  if (jobs.length === 1) return jobs[0];
  if (jobs.length === 0) {
    showDiagnostics(line, diagnostics);
    throw new UsageError(`"${source.name}" has no job`);
  }
  throw new UsageError(
    `"${source.name}" has ${jobs.length} jobs`,
    `Choose one with --job-name: ${jobs.slice(0, 20).join(", ")}`,
  );
}
