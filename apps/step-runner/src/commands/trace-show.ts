import { defineCommand } from "@steps/console";
import { print, terminalOf } from "@steps/console/terminal";
import { decodeShown, formatTrace } from "@steps/trace";
import { readText } from "../read-source.ts";

export const traceShow = defineCommand({
  name: "trace show",
  summary: "Print a trace, or a step-results.json, as a tree",
  usage: "FILE|-",
  flags: {},
  positionals: { min: 1, max: 1 },
  examples: [
    ["step-runner trace show trace.json", "see what ran, with what, how long, and where it failed"],
    [
      "step-runner trace show step-results.json",
      "the same for the results of GitLab's step runner, as far as they tell",
    ],
  ],
  run,
});

async function run(_options: object, [path = ""]: readonly string[]): Promise<number> {
  const trace = await decodeShown(readText(path));
  const { width, hasColor } = terminalOf(1);
  const text = formatTrace(trace, { width, hasColor });
  await print(text.endsWith("\n") ? text : `${text}\n`);
  return 0;
}
