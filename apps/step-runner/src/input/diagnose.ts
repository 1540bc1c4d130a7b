import { errors } from "@steps/console/terminal";
import { type Diagnostic, formatDiagnostic } from "@steps/model/diagnostic";
import { createMasker } from "@steps/trace/mask";

/** The values that no diagnostic shows. Default: none. */
export interface MaskOptions {
  readonly mask?: readonly string[];
}

/** Shows errors and warnings on standard error, notes only where they are asked for; those values are replaced. */
export function showDiagnostics(
  { mask = [] }: MaskOptions,
  diagnostics: readonly Diagnostic[],
  options: { readonly withNotes?: boolean } = {},
): void {
  const shown = diagnostics.filter((diagnostic) => diagnostic.severity !== "note" || options.withNotes === true);
  if (shown.length === 0) return;
  const masker = createMasker();
  for (const secret of mask) masker.add(secret);
  void errors.write(Buffer.from(`${masker.text(shown.map(formatDiagnostic).join("\n"))}\n`));
}
