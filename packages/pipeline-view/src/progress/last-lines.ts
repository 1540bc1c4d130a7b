import { harmless, terminalOf } from "@steps/console/terminal";

const MAX_LINES = 10;
const MAX_LINE_CHARS = 500;

/** The last lines of an output, below a line that says so, for the explanation of a failure; none of an output that is empty. */
export function lastLines(output: string): readonly string[] {
  const lines = harmless(output, terminalOf(2)).split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return [];
  return ["  the end of its output:", ...lines.slice(-MAX_LINES).map((line) => `  | ${line.slice(0, MAX_LINE_CHARS)}`)];
}
