import type { Terminal } from "@steps/console/terminal";
import { formatPosition, printable } from "@steps/model/diagnostic";
import { lineDiff } from "./line-diff.ts";
import type { CaseResult, Difference } from "./test-case.ts";

/** How many lines of a step's output are shown when its case fails. */
const SHOWN_LINES = 20;

/** A case as a person sees it: one line if it passed, otherwise all that differs and the last lines of the step's output. */
export function formatResult(result: CaseResult, { bold, red, dim }: Terminal, isVerbose: boolean): string {
  const { case: test, differences, durationMs } = result;
  const time = dim(`${Math.round(durationMs)} ms`);
  const output = (): readonly string[] => formatOutput(result, isVerbose ? Number.MAX_SAFE_INTEGER : SHOWN_LINES, dim);
  if (result.isCancelled) return `  ${bold("-")} ${printable(test.name)} ${dim("cancelled")}\n`;
  if (differences.length === 0)
    return [`  ✓ ${printable(test.name)} ${time}`, ...(isVerbose ? output() : []), ""].join("\n");
  const place = test.position === undefined ? test.file : formatPosition(test.position);
  const rows = differences.flatMap((difference) => formatDifference(difference, red));
  return [`  ${red("✗")} ${bold(printable(test.name))} ${time}`, `      ${place}`, ...rows, ...output(), ""].join("\n");
}

/** The numbers of a call: `3 cases: 2 passed, 1 failed, in 0.4 s`. */
export function formatSummary(results: readonly CaseResult[], durationMs: number): string {
  const { passed, failed, cancelled } = countResults(results);
  const parts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
  ];
  const count = results.length;
  return `${count} case${count === 1 ? "" : "s"}: ${parts.join(", ")}, in ${(durationMs / 1000).toFixed(1)} s\n`;
}

/** How many cases ended in which way. */
export function countResults(results: readonly CaseResult[]): Record<"passed" | "failed" | "cancelled", number> {
  const cancelled = results.filter(({ isCancelled }) => isCancelled).length;
  const failed = results.filter(({ differences }) => differences.length > 0).length;
  return { passed: results.length - failed - cancelled, failed, cancelled };
}

/** A difference in lines, for reports without colour. */
export function describeDifference({ what, expected, actual }: Difference): string {
  return `${what}\n${lineDiff(expected, actual).join("\n")}`;
}

function formatDifference({ what, expected, actual }: Difference, red: Terminal["red"]): readonly string[] {
  const rows = lineDiff(expected, actual).map(
    (row) => `        ${row.startsWith("+") ? red(printable(row)) : printable(row)}`,
  );
  return [`      ${what} (- expected, + actual)`, ...rows];
}

function formatOutput({ output }: CaseResult, limit: number, dim: Terminal["dim"]): readonly string[] {
  const lines = output.trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return [];
  const shown = lines.slice(-limit);
  const head = shown.length < lines.length ? `the last ${shown.length} lines of the output` : "the output";
  return [`      ${head}`, ...shown.map((line) => dim(`        ${printable(line)}`))];
}
