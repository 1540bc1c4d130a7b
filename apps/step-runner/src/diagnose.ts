import type { Compiled } from "@steps/compiler";
import { type Diagnostic, formatDiagnostic, type SpecDefinition } from "@steps/model";
import { errors } from "./terminal.ts";

/** Shows errors and warnings on standard error; notes only where they are asked for. */
export function showDiagnostics(
  diagnostics: readonly Diagnostic[],
  options: { readonly withNotes?: boolean } = {},
): void {
  const shown = diagnostics.filter((diagnostic) => diagnostic.severity !== "note" || options.withNotes === true);
  if (shown.length > 0) void errors.write(Buffer.from(`${shown.map(formatDiagnostic).join("\n")}\n`));
}

/** Shows what is wrong with an input and gives its definition if it has one. */
export function requireCompiled(compiled: Compiled): SpecDefinition | undefined {
  showDiagnostics(compiled.diagnostics);
  return compiled.specDefinition;
}
