import { flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { type CompiledJob, compileJob } from "@steps/gitlab-ci";
import { sortDiagnostics } from "@steps/gitlab-ci/load";
import type { IncludedFile } from "@steps/model";
import { type MaskOptions, showDiagnostics } from "./diagnose.ts";
import { includeFlags } from "../flags/include-flags.ts";
import type { CiFile } from "./load-ci-file.ts";

/** Flags of commands that read a job of a CI file. */
export const jobFlags = {
  "job-name": flag.text({
    otherNames: ["job", "only"],
    placeholder: "NAME",
    summary: "The job; not needed when the file has only one",
  }),
  variable: flag.pairs({
    summary: "A job variable that wins over that of the file; the value is taken as it stands; repeat for more",
  }),
  ...grouped("The file", {
    format: flag.choice(["auto", "gitlab-ci", "github"], {
      summary: "The kind of the file",
      default: "auto",
    }),
    "work-dir": flag.path({
      placeholder: "DIR",
      summary: "The project's directory; the folder of the file by default",
    }),
  }),
  ...includeFlags,
  ...grouped("The file", {
    input: flag.list({
      placeholder: "NAME=VALUE",
      summary:
        "An input of a workflow (workflow_dispatch, workflow_call) or of a .gitlab-ci.yml (spec:inputs); repeat for more",
    }),
  }),
};

/** The options that name a job of a CI file. */
export type JobOptions = OptionsOf<typeof jobFlags>;

/** A job with where it runs. */
export interface LocalJob {
  readonly job: CompiledJob;
  /** The files that the CI file includes. */
  readonly includedFiles: readonly IncludedFile[];
  readonly workDir: string;
}

/** Reads a job of a file that was loaded, and shows what is wrong with both. `undefined` if it cannot run. */
export function readJobOf(options: MaskOptions, file: CiFile, jobName: string): LocalJob | undefined {
  const { pipeline, workDir, overrides, diagnostics } = file;
  const predefined = { ...file.predefined, CI_JOB_NAME: jobName };
  const translated = compileJob(pipeline, { jobName, predefined, overrides });
  showDiagnostics(options, sortDiagnostics([...diagnostics, ...translated.diagnostics], pipeline.sources));
  return translated.job === undefined ? undefined : { job: translated.job, includedFiles: file.files, workDir };
}

/** The name of the job that the flags name, or of the only one of the file. @throws {UsageError} */
export function jobNameOf({ jobName }: Pick<JobOptions, "jobName">, { pipeline }: CiFile): string {
  if (jobName !== undefined) return jobName;
  const jobs = [...pipeline.groups.keys()];
  const [only] = jobs;
  if (only !== undefined && jobs.length === 1) return only;
  const name = pipeline.sources[0]?.name ?? "";
  if (only === undefined) throw new UsageError(`"${name}" has no job`);
  const shown = jobs.slice(0, 20).join(", ");
  throw new UsageError(`"${name}" has ${jobs.length} jobs`, `Choose one with --job-name: ${shown}`);
}
