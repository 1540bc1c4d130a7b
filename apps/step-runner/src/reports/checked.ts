import type { Diagnostic } from "@steps/model/diagnostic";

/** Something that was looked at, with all that was found. */
export interface Checked {
  /** The name by which the user knows the input: a path, `STEPS`, `<stdin>`, a reference. */
  readonly name: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** How many diagnostics of each severity there are. */
export function countDiagnostics(checked: readonly Checked[]): Record<Diagnostic["severity"], number> {
  const counts = { error: 0, warning: 0, note: 0 };
  for (const { diagnostics } of checked) for (const { severity } of diagnostics) counts[severity] += 1;
  return counts;
}
