import { type CommandLine, type Flags, UsageError } from "@steps/console";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { listJobs, translateJob, type TranslatedJob } from "@steps/gitlab-ci";
import type { Source } from "@steps/model";
import { showDiagnostics } from "./diagnose.ts";
import { absolute } from "./absolute.ts";

/** Flags of commands that read a job of a CI file. */
export const jobFlags: Flags = {
  format: {
    type: "string",
    summary: "What kind of file it is",
    choices: ["auto", "gitlab-ci", "github"],
    default: "auto",
  },
  "job-name": { type: "string", placeholder: "NAME", summary: "The job; not needed when the file has only one" },
  variable: { type: "pairs", summary: "Job variables that win over those of the file" },
  "work-dir": {
    type: "string",
    placeholder: "DIR",
    summary: "The project's directory; the folder of the file by default",
  },
};

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
  const source: Source = { name: path, text: readFileSync(path, "utf8") };
  const workDir = absolute(line.string("work-dir") ?? dirname(path));
  const jobName = name ?? onlyJob(line, source);
  if (jobName === undefined) return undefined;
  const predefined = { CI: "true", GITLAB_CI: "true", CI_PROJECT_DIR: workDir, CI_JOB_NAME: jobName };
  const { job, diagnostics } = translateJob(source, { jobName, predefined, overrides: line.pairs("variable") });
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
