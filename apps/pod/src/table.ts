/** Writes rows below each other, each column as wide as its longest cell. The first row is the head. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => printable(row[column] ?? "").length)),
  );
  return rows
    .map((row) => {
      const cells = row.map((cell, column) => printable(cell).padEnd(widths[column] ?? 0));
      return `${cells.join("  ").trimEnd()}\n`;
    })
    .join("");
}

// Names come from whoever wrote the pipeline; they must not drive the terminal of the one who reads.
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}

/** Writes a value for programs. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
