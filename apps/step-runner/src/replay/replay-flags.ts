import { flag, grouped, type OptionsOf } from "@steps/console";
import { exportFlags } from "../flags/allowed-exports.ts";
import { sourceFlags } from "../flags/component-flags.ts";
import { githubFlags } from "../flags/github-flags.ts";
import { fetchFlags, runFlags, stateDir } from "../flags/run-flags.ts";

/** The flags of `replay`. */
export const replayFlags = {
  job: flag.text({
    otherNames: ["job-name", "only"],
    placeholder: "NAME",
    summary: "The job, or its instance, of a pipeline's trace",
  }),
  "dry-run": flag.boolean({ summary: "Only show what would be used" }),
  yes: flag.boolean({ summary: "Do not ask", env: "STEP_RUNNER_YES" }),
  secret: flag.secrets({
    summary: "A value that the trace holds redacted; VALUE may be env:X or file:P; repeat for more",
  }),
  "output-file": flag.text({ short: "o", placeholder: "FILE", summary: "Write the trace of the replay to a file" }),
  timeout: runFlags.timeout,
  quiet: runFlags.quiet,
  ...exportFlags,
  ...grouped("The comparison and its report", {
    strict: flag.boolean({ summary: "Logs, tools and the machine must be the same too" }),
    ignore: flag.list({
      placeholder: "POINTER",
      summary: "A difference that does not count, such as outputs.build.time; repeat for more",
    }),
    report: flag.choice(["text", "json"], { summary: "The form of the report", default: "text" }),
    "report-only": flag.boolean({ summary: "Exit with 0 also when the run differs" }),
  }),
  ...grouped("The run and its records", {
    progress: runFlags.progress,
    "work-dir": flag.path({
      placeholder: "DIR",
      summary: "Where the steps run; the recorded directory by default, or a copy of the project if the job ran in one",
    }),
    grace: runFlags.grace,
    "state-dir": stateDir,
    "trace-sync": runFlags["trace-sync"],
  }),
  ...fetchFlags,
  ...sourceFlags,
  ...githubFlags,
};
/** The options of `replay`. */
export type ReplayFlags = OptionsOf<typeof replayFlags>;
