import type { Diagnostic, DiagnosticRule } from "@steps/model/diagnostic";
import type { SourceCode } from "@steps/source";

/** The codes of diagnostics that steps, specs and definitions have; those of `@steps/source` come besides. They do not change. */
export type CompilerCode =
  | "empty-command"
  | "empty-text"
  | "extra-document"
  | "hyphen-in-name"
  | "inexact-number"
  | "invalid-default"
  | "invalid-delegate"
  | "invalid-duration"
  | "invalid-match"
  | "invalid-number"
  | "kind-mismatch"
  | "literal-expression"
  | "literal-secret"
  | "missing-document"
  | "missing-output"
  | "missing-type"
  | "null-default"
  | "old-key"
  | "old-type"
  | "prototext-syntax"
  | "script-injection"
  | "type-mismatch"
  | "undeclared-output"
  | "unknown-function"
  | "unknown-name"
  | "unknown-type";

/** A diagnostic of a step file or a list of steps. */
export type CompilerDiagnostic = Diagnostic<CompilerCode | SourceCode>;

/** The meaning of each code, and what to do about it. */
export const COMPILER_RULES: Readonly<Record<CompilerCode, DiagnosticRule>> = {
  "empty-command": { title: "The command is empty", help: "Name a program: `command: [program, argument]`." },
  "empty-text": { title: "The text is empty", help: "A step file has two documents, a list of steps has items." },
  "extra-document": { title: "Too many documents", help: "Remove what follows, or the line of `---` before it." },
  "hyphen-in-name": {
    title: "The name of a step holds a hyphen",
    help: 'Expressions read it as a minus. Write `steps["a-b"]`, or use `_`.',
  },
  "inexact-number": {
    title: "A number that is not exact",
    help: "It is too large for a double, so its last digits change. Quote it if it is an identifier.",
  },
  "invalid-default": { title: "The default is none of the options", help: "Add it to the options, or change it." },
  "invalid-delegate": {
    title: "Outputs are delegated to no step, or by one side only",
    help: "`outputs: delegate` in the spec and `delegate: NAME` beside `run:` go together; NAME is a step of the list.",
  },
  "invalid-duration": { title: "No time", help: "Write `30s`, `5m`, `1h30m` or `500ms`; a bare number is seconds." },
  "invalid-match": {
    title: "The pattern of an input cannot be used",
    help: "It is a regular expression in the syntax of RE2, and goes with the type `string`.",
  },
  "invalid-number": {
    title: "A number that JSON does not have",
    help: "Infinity and NaN cannot be passed on. Quote it if it is meant as text.",
  },
  "kind-mismatch": {
    title: "A comparison of different kinds",
    help: 'Values of different kinds are never equal, and their order depends on the kinds alone, so the result is always the same. Variables are strings: compare with `"1"`, or write `num(vars.X)`.',
  },
  "literal-expression": {
    title: "An expression in the spec stays as it is",
    help: "The spec is read before anything is known. Expand it in the definition.",
  },
  "literal-secret": {
    title: "A secret is written out",
    help: "A file with a secret in it gives it to everyone who can read the file. Name where it is to be found, a variable or a secret of the caller.",
  },
  "missing-document": {
    title: "A step file has two documents",
    help: "First `spec:` (or `{}`), then a line of `---`, then the definition with `exec:` or `run:`.",
  },
  "missing-output": {
    title: "A declared output is never given",
    help: "Add it to `outputs:` beside `run:`, or give it a default in the spec.",
  },
  "missing-type": { title: "An input or output without a type", help: "It is `string`. Write `type:` to say so." },
  "null-default": {
    title: "The default is null",
    help: "The input is optional. Before 2026 such an input was required.",
  },
  "old-key": { title: "An old spelling of a key", help: "It is read. Write the new one." },
  "old-type": { title: "An old name of a type", help: "It is read. Write the new one." },
  "prototext-syntax": {
    title: "The text is no protobuf text",
    help: 'A message in protobuf\'s text form has fields such as name: "text", name: 1 or name { … }.',
  },
  "script-injection": {
    title: "A value is pasted into a script",
    help: 'The shell reads it as code. Pass it through `env:` and write `"$NAME"` in the script.',
  },
  "type-mismatch": {
    title: "A value is not of its type",
    help: "Quote a string that looks like something else, or change the type.",
  },
  "undeclared-output": {
    title: "An output that the spec does not declare",
    help: "Declare it in the spec, or remove it.",
  },
  "unknown-function": {
    title: "An expression calls a function that there is not",
    help: "The hint has the nearest one. `success()`, `failure()`, `always()`, `cancelled()` and `timed_out()` are for `if:` alone.",
  },
  "unknown-name": {
    title: "An expression names what is not there",
    help: 'It is no context, no input or secret that the spec declares, or no step before it in the list. The hint has the nearest one; ask by `has(inputs, "x")` for what may be missing.',
  },
  "unknown-type": {
    title: "An unknown type",
    help: "Inputs and outputs are `string`, `number`, `boolean`, `struct` or `array`.",
  },
};
