/** The most lines of which common ones are looked for; longer texts are shown one after the other. */
const MAX_LINES = 500;

/** The lines of two texts with a mark before each: `-` only in the first, `+` only in the second, a blank in both. */
export function lineDiff(first: string, second: string): readonly string[] {
  const [before, after] = [splitLines(first), splitLines(second)];
  if (before.length > MAX_LINES || after.length > MAX_LINES)
    return [...before.map((line) => `- ${line}`), ...after.map((line) => `+ ${line}`)];
  const common = commonLengths(before, after);
  const lengthAt = (i: number, j: number): number => common[i]?.[j] ?? 0;
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && before[i] === after[j]) {
      lines.push(`  ${before[i]}`);
      i += 1;
      j += 1;
    } else if (j >= after.length || (i < before.length && lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push(`- ${before[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${after[j]}`);
      j += 1;
    }
  }
  return lines;
}

/** How many lines the rests of both have in common, by where the rests begin. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly (readonly number[])[] {
  const rows: number[][] = Array.from({ length: before.length + 1 }, () =>
    Array.from({ length: after.length + 1 }, () => 0),
  );
  for (let i = before.length - 1; i >= 0; i--) {
    const [row, below] = [rows[i] as number[], rows[i + 1] as number[]];
    for (let j = after.length - 1; j >= 0; j--) {
      row[j] = before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return rows;
}

/** The lines of a text; an end of the last one that only one of the texts has is a line of its own. */
function splitLines(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}
