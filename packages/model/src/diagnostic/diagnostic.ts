import { codeFrame, formatPosition, type Position, printable } from "./position.ts";

/**
 * Something an author of steps got wrong, with its place. `Code` is the closed union of the codes that may come from whoever gives
 * it: each compiler names its own, such as `CompilerDiagnostic`. Whoever only shows diagnostics takes any.
 */
export interface Diagnostic<Code extends string = string> {
  readonly severity: "error" | "warning" | "note";
  /** Kebab-case and stable: `unknown-key`, `missing-input`. */
  readonly code: Code;
  /** Sentence case, no final period. */
  readonly message: string;
  readonly position?: Position | undefined;
  /** Advice on what to write instead, as a sentence. */
  readonly hint?: string | undefined;
}

/** The meaning of a diagnostic code, for lists of codes and for reports that are read without the text. */
export interface DiagnosticRule {
  /** Sentence case, no final period. */
  readonly title: string;
  /** Why it matters and what to do about it, a sentence or two, Markdown. */
  readonly help: string;
}

/** Whether any of them is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === "error");
}

/**
 * `place: severity: message [code]`, the code frame, the hint; several lines without a final newline. What a file may
 * have put into the message cannot drive a terminal.
 */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { position } = diagnostic;
  const place = position ? `${formatPosition(position)}: ` : "";
  const rows = [`${place}${diagnostic.severity}: ${printable(diagnostic.message)} [${diagnostic.code}]`];
  if (position) rows.push(codeFrame(position));
  if (diagnostic.hint !== undefined) rows.push(`  hint: ${printable(diagnostic.hint)}`);
  return rows.join("\n");
}

/**
 * The name nearest to what was written, for a hint: at most a third of its letters differ, one in the shortest names.
 * `undefined` when none is near. Only the first 40 letters are looked at; their case does not matter.
 */
export function nearest(written: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(Math.min(written.length, 40) / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const name of known) {
    const distance = editDistance(written.slice(0, 40).toLowerCase(), name.slice(0, 40).toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

// Damerau-Levenshtein with adjacent swaps, since `wokr_dir` is one slip, not two.
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] as number) + 1);
      row.push(cost);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] as number;
}
