import { availableParallelism } from "node:os";
import { flag, grouped, type OptionsOf } from "@steps/console";
import { shellFlag } from "../failure-shell/shell-flag.ts";
import { executorFlags } from "../job-containers/executor-flags.ts";
import { jobFlags } from "../input/read-job.ts";
import { needsFlags } from "../flags/needs-flags.ts";
import { runFlags } from "../flags/run-flags.ts";
import { settingsFlags } from "../settings/settings-of-call.ts";
import { situationFlags } from "../situation/situation-flags.ts";
import { homeFlag } from "../run/workflow-command-job.ts";

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
  ...fileFlags,
  ...needsFlags,
  ...run,
  ...grouped("Which jobs run", {
    only: flag.list({
      otherNames: ["job", "job-name"],
      placeholder: "JOB",
      summary: "Run a job and those that it needs; one that is started by hand is started; repeat for more",
    }),
    stage: flag.list({
      placeholder: "STAGE",
      summary: "Run the jobs of a stage of a .gitlab-ci.yml and those that they need; repeat for more",
    }),
    start: flag.list({
      placeholder: "JOB",
      summary: "Start a manual job of a .gitlab-ci.yml when its turn comes; repeat for more",
    }),
    delay: flag.boolean({
      default: true,
      summary: "Delayed jobs of a .gitlab-ci.yml wait for their time; --no-delay starts them at once",
    }),
  }),
  ...grouped("What is shown", {
    list: flag.boolean({
      otherNames: ["dry-run"],
      summary: "Show the jobs in their order, and why each is in or out; nothing is run",
    }),
    graph: flag.choice(["dot", "mermaid"], {
      summary: "Print the graph of the jobs for Graphviz or for Mermaid; nothing is run",
    }),
    report: flag.choice(["json", "junit", "markdown"], {
      summary: "Print a report of the jobs on standard output; the output of the jobs goes to standard error then",
    }),
  }),
  ...grouped("Where the jobs run", {
    "in-place": flag.boolean({
      summary:
        "The jobs run in the project itself; by default each has a copy of it with all changes, without ignored files",
    }),
    "artifacts-dir": flag.path({
      placeholder: "DIR",
      summary: "Keep the artifacts of all jobs here, in a folder for each job; by default they go with the pipeline",
    }),
    ...homeFlag,
  }),
  ...shellFlag,
  ...executorFlags,
  ...situationFlags,
  ...settingsFlags,
};

/** The options of the command that runs all jobs of a file. */
export type PipelineOptions = OptionsOf<typeof pipelineFlags> & {
  /** The inputs of the jobs that `only` names. Default: none. */
  readonly jobInput?: Readonly<Record<string, string>>;
};
