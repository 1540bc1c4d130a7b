import { defineCommand, flag, type OptionsOf, UsageError } from "@steps/console";
import { print, terminalOf } from "@steps/console/terminal";
import { encodeTrace, formatTrace } from "@steps/trace";
import {
  encodePipelineTrace,
  formatPipelineMarkdown,
  formatPipelineTrace,
  formatTraceMarkdown,
} from "@steps/trace/pipeline";
import { stateDir } from "../flags/run-flags.ts";
import {
  findTrace,
  namesTrace,
  type FoundTrace,
  type JobTrace,
  type PipelineTrace,
  RUN_LISTING,
  stateOf,
} from "../traces/find-trace.ts";
import { jobsOf } from "../traces/trace-jobs.ts";

const flags = {
  logs: flag.boolean({ summary: "Print what the steps have written, or the one named as STEP with those below it" }),
  job: flag.text({
    otherNames: ["job-name", "only"],
    placeholder: "NAME",
    summary: "Show only this job of a pipeline, or this one of its instances",
  }),
  json: flag.boolean({ summary: "Print the trace as JSON" }),
  markdown: flag.boolean({ summary: "Print a table in Markdown, for a comment or a summary" }),
  "state-dir": stateDir,
};
type Options = OptionsOf<typeof flags>;

export const traceShow = defineCommand({
  name: "trace show",
  summary: "Print the trace of a job or of a pipeline, or a step-results.json, as a tree",
  usage: "[RUN|FILE|-] [STEP] [flags]",
  description: [
    "RUN is the beginning of the id of a run that is kept, as trace ls lists them; without an argument it is the newest run. STEP, with " +
      "--logs, is the name of a step, or its path: 0/2 is the third step of the first one. Alone it is one of the newest run.",
  ],
  flags,
  positionals: { min: 0, max: 2, listedBy: RUN_LISTING },
  examples: [
    ["step-runner trace show", "see the newest run: what ran, with what, how long, and where it failed"],
    ["step-runner trace show 1f0c --logs build", "print what the step build of a run has written"],
    ["step-runner trace show trace.json", "see the trace in a file"],
    ["step-runner trace show trace.json --job build", "see one job of a pipeline"],
    [
      "step-runner trace show step-results.json",
      "the same for the results of GitLab's step runner, as far as they tell",
    ],
  ],
  run,
});

async function run(options: Options, args: readonly string[]): Promise<number> {
  const { logs, json, markdown, job } = options;
  const state = stateOf(options);
  const [named, step] = logs ? withRun(args, state) : args;
  if (step !== undefined && !logs)
    throw new UsageError(`One argument too many: "${step}"`, "A step is named with --logs.");
  if ([logs, json, markdown].filter(Boolean).length > 1)
    throw new UsageError("Only one of --logs, --json and --markdown can be given");
  const found = chosen(await findTrace(named, state), job, named);
  if (logs) {
    const { printLogs } = await import("../traces/print-logs.ts");
    await printLogs(found, { wanted: step, isOfNewest: named === undefined, stateDir: state });
    return 0;
  }
  const shown = found.kind === "job" ? formatJob(options, found.trace) : formatPipeline(options, found.trace);
  await print(shown.endsWith("\n") ? shown : `${shown}\n`);
  return 0;
}

/** The run and the step that are named: a single name that is no trace is a step of the newest run. */
function withRun(args: readonly string[], state: string): readonly (string | undefined)[] {
  const [first] = args;
  return args.length !== 1 || first === undefined || namesTrace(first, state) ? args : [undefined, first];
}

/** The part of a trace that `--job` names; the whole is still there for `formatPipelineTrace()`. */
function chosen(found: FoundTrace, job: string | undefined, named = "the newest run"): FoundTrace {
  if (job === undefined) return found;
  if (found.kind === "job")
    throw new UsageError("--job is given", `"${named}" is the trace of one job, not of a pipeline.`);
  jobsOf(found.trace, job);
  return found;
}

function formatJob({ json, markdown }: Options, trace: JobTrace): string {
  if (json) return encodeTrace(trace);
  const { width, hasColor } = terminalOf(1);
  return markdown ? formatTraceMarkdown(trace) : formatTrace(trace, { width, hasColor });
}

function formatPipeline({ json, markdown, job }: Options, trace: PipelineTrace): string {
  const shown = job === undefined ? trace : { ...trace, jobs: jobsOf(trace, job) };
  if (json) return encodePipelineTrace(shown);
  const { width, hasColor } = terminalOf(1);
  return markdown ? formatPipelineMarkdown(shown) : formatPipelineTrace(trace, { width, hasColor, job });
}
