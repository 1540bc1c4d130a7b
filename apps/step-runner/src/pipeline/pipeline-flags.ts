import { availableParallelism } from "node:os";
import { flag, grouped, type OptionsOf } from "@steps/console";
import { jobFlags } from "../read-job.ts";
import { runFlags } from "../run-flags.ts";
import { homeFlag } from "../workflow-command-job.ts";

const { "job-name": _, ...fileFlags } = jobFlags;
const { "write-steps-results": _w, "step-results-file": _f, "step-results-format": _r, ...run } = runFlags;

/** Flags of the command that runs all jobs of a file. */
export const pipelineFlags = {
  jobs: flag.integer({
    placeholder: "N",
    summary: `How many jobs run at once; by default as many as there are cores, here ${availableParallelism()}`,
    min: 1,
    env: "STEP_RUNNER_JOBS",
  }),
  only: flag.list({ placeholder: "JOB", summary: "Run a job and those that it needs; repeat for more" }),
  ...fileFlags,
  ...run,
  ...grouped("What is shown", {
    list: flag.boolean({ summary: "Show the jobs in their order, and why one would not run; nothing is run" }),
    report: flag.choice(["json", "junit", "markdown"], {
      summary: "Print a report of the jobs on standard output; the output of the jobs goes to standard error then",
    }),
  }),
  ...grouped("Where the jobs run", {
    "in-place": flag.boolean({
      summary:
        "The jobs run in the project itself; by default each has a copy of it with all changes, without ignored files",
    }),
    ...homeFlag,
  }),
};

/** The options of the command that runs all jobs of a file. */
export type PipelineOptions = OptionsOf<typeof pipelineFlags>;
