import { escapeXml } from "@steps/pipeline-view";
import { countResults, describeDifference } from "./format-results.ts";
import type { CaseResult } from "./test-case.ts";

/** The results in the form of JUnit: a suite for each file. */
export function formatJunit(results: readonly CaseResult[]): string {
  const files = Map.groupBy(results, ({ case: { file } }) => file);
  const suites = Array.from(files, ([file, own]) => {
    const { failed, cancelled } = countResults(own);
    const counts = `tests="${own.length}" failures="${failed}" skipped="${cancelled}" time="${seconds(own)}"`;
    return `  <testsuite name="${escapeXml(file)}" ${counts}>\n${own.map(formatCase).join("\n")}\n  </testsuite>`;
  });
  const { failed } = countResults(results);
  const counts = `tests="${results.length}" failures="${failed}" time="${seconds(results)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n${suites.join("\n")}\n</testsuites>\n`;
}

/** The results for programs. */
export function formatJson(results: readonly CaseResult[]): string {
  const cases = results.map(({ case: test, differences, durationMs, output, isCancelled }) => ({
    file: test.file,
    line: test.position?.line,
    name: test.name,
    result: isCancelled ? "cancelled" : differences.length === 0 ? "passed" : "failed",
    durationMs: Math.round(durationMs),
    differences,
    output,
  }));
  return `${JSON.stringify({ version: 1, ...countResults(results), cases }, null, 2)}\n`;
}

function formatCase(result: CaseResult): string {
  const { case: test, differences } = result;
  const start = `    <testcase classname="${escapeXml(test.file)}" name="${escapeXml(test.name)}" time="${seconds([result])}"`;
  if (result.isCancelled) return `${start}><skipped/></testcase>`;
  if (differences.length === 0) return `${start}/>`;
  const message = differences.map(({ what }) => what).join(", ");
  const text = differences.map(describeDifference).join("\n");
  const output = result.output === "" ? "" : `<system-out>${escapeXml(result.output)}</system-out>`;
  return `${start}><failure message="${escapeXml(message)}">${escapeXml(text)}</failure>${output}</testcase>`;
}

function seconds(results: readonly CaseResult[]): string {
  return (results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000).toFixed(3);
}
