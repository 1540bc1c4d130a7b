export { type Diagnostic, type DiagnosticRule, formatDiagnostic, hasErrors, nearest } from "./diagnostic.ts";
export { codeFrame, formatPosition, type Position, positionAt, printable, quote, type Source } from "./position.ts";
