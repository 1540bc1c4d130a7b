import type { Report } from "./trial.ts";

/** The reports as a table of Markdown, and below it each failure with its seed. */
export function tableOf(reports: readonly Report[]): string {
  const head = ["trial", "attempts", "held", "failed", "measured", "seconds"];
  const rows = reports.map((report) => [
    report.name,
    String(report.count),
    String(report.held),
    String(report.failures.length),
    Object.entries(report.measured)
      .map(([name, value]) => `${name}: ${Number(value.toFixed(1))}`)
      .join("; "),
    report.seconds.toFixed(0),
  ]);
  const table = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const failures = reports.flatMap(({ name, failures }) =>
    failures.map(({ seed, reason }) => `failed: pnpm faults ${name} --count 1 --seed ${seed}\n  ${reason}`),
  );
  return `${[line(head), rule, ...rows.map(line), ...failures].join("\n")}\n`;
}
