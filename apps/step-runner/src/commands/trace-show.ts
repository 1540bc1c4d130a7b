import { defineCommand, flag, type OptionsOf, UsageError } from "@steps/console";
import { print, terminalOf } from "@steps/console/terminal";
import { decodeShown, formatTrace } from "@steps/trace";
import { decodePipelineTrace, formatPipelineTrace, isPipelineTrace } from "@steps/trace/pipeline";
import { readText } from "../files/read-source.ts";
import { jobsOf } from "../traces/trace-jobs.ts";

const flags = {
  job: flag.text({
    placeholder: "NAME",
    summary: "Show only this job of a pipeline, or this one of its instances",
  }),
};
type Options = OptionsOf<typeof flags>;

export const traceShow = defineCommand({
  name: "trace show",
  summary: "Print the trace of a job or of a pipeline, or a step-results.json, as a tree",
  usage: "FILE|- [flags]",
  flags,
  positionals: { min: 1, max: 1 },
  examples: [
    ["step-runner trace show trace.json", "see what ran, with what, how long, and where it failed"],
    ["step-runner trace show trace.json --job build", "see one job of a pipeline"],
    [
      "step-runner trace show step-results.json",
      "the same for the results of GitLab's step runner, as far as they tell",
    ],
  ],
  run,
});

async function run({ job }: Options, [path = ""]: readonly string[]): Promise<number> {
  const text = readText(path);
  const { width, hasColor } = terminalOf(1);
  if (isPipelineTrace(text)) {
    const trace = await decodePipelineTrace(text);
    if (job !== undefined) jobsOf(trace, job);
    await print(formatPipelineTrace(trace, { width, hasColor, job }));
    return 0;
  }
  if (job !== undefined)
    throw new UsageError("--job is given", `"${path}" is the trace of one job, not of a pipeline.`);
  const shown = formatTrace(await decodeShown(text), { width, hasColor });
  await print(shown.endsWith("\n") ? shown : `${shown}\n`);
  return 0;
}
