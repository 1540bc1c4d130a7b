import type { Diagnostic } from "@steps/model/diagnostic";
import { type Checked, countDiagnostics } from "./checked.ts";
import { regionOf } from "./region.ts";

/** One diagnostic, in a form that does not change: members may be added. */
interface DiagnosticJson {
  /** The name of what was read: a path as it was given, `STEPS`, `<stdin>`, a reference with a path in it. */
  readonly file: string;
  /** The number of the line, from 1. Line and columns are absent where the diagnostic has no place. */
  readonly line?: number;
  /** The column from 1, in UTF-16 units. */
  readonly column?: number;
  readonly endLine?: number;
  /** The column of the first unit behind the place. */
  readonly endColumn?: number;
  readonly code: string;
  readonly severity: Diagnostic["severity"];
  readonly message: string;
  readonly hint?: string;
}

/** The output of `validate --format json`. */
export interface ReportJson {
  readonly version: 1;
  /** The files that were checked, in order, and whether each has no errors. */
  readonly files: readonly { readonly name: string; readonly valid: boolean }[];
  readonly diagnostics: readonly DiagnosticJson[];
  readonly errors: number;
  readonly warnings: number;
  readonly notes: number;
}

export function toReportJson(checked: readonly Checked[]): ReportJson {
  const counts = countDiagnostics(checked);
  return {
    version: 1,
    files: checked.map((item) => ({ name: item.name, valid: countDiagnostics([item]).error === 0 })),
    diagnostics: checked.flatMap(({ name, diagnostics }) => diagnostics.map((item) => toDiagnosticJson(item, name))),
    errors: counts.error,
    warnings: counts.warning,
    notes: counts.note,
  };
}

/** `name` stands in where the diagnostic has no place. */
function toDiagnosticJson(diagnostic: Diagnostic, name: string): DiagnosticJson {
  const { position, code, severity, message, hint } = diagnostic;
  const region = position === undefined ? undefined : regionOf(position);
  return {
    file: position?.source.name ?? name,
    ...(region === undefined
      ? {}
      : { line: region.startLine, column: region.startColumn, endLine: region.endLine, endColumn: region.endColumn }),
    code,
    severity,
    message,
    hint,
  };
}
