/** Lines whose cells stand in columns, two blanks apart; a column that is empty everywhere is left out. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  const lines = rows.map((row) =>
    row
      .flatMap((cell, column) => (widths[column] === 0 ? [] : [cell.padEnd(widths[column] ?? 0)]))
      .join("  ")
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join("");
}

/** A text as a cell of a table in Markdown: its first line. */
export function escapeCell(text: string): string {
  return firstLine(text).replaceAll(/[\\|`<]/g, (sign) => `\\${sign}`);
}

/** The first line of a text; empty without one. */
export function firstLine(text = ""): string {
  return text.split("\n", 1)[0] ?? "";
}
