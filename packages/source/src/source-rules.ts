import type { DiagnosticRule } from "@steps/model/diagnostic";

/** The codes of diagnostics that texts of several languages have. They do not change. */
export type SourceCode =
  | "alias-limit"
  | "conflicting-keys"
  | "duplicate-key"
  | "duplicate-name"
  | "empty-condition"
  | "empty-run"
  | "empty-script"
  | "expression-not-allowed"
  | "invalid-character"
  | "invalid-expression"
  | "invalid-key"
  | "invalid-merge"
  | "invalid-name"
  | "invalid-reference"
  | "invalid-value"
  | "missing-key"
  | "not-supported"
  | "text-too-large"
  | "too-deep"
  | "too-many-documents"
  | "too-many-problems"
  | "unknown-alias"
  | "unknown-key"
  | "unknown-tag"
  | "wrong-type"
  | "yaml-syntax";

/** The meaning of each code, and what to do about it. */
export const SOURCE_RULES: Readonly<Record<SourceCode, DiagnosticRule>> = {
  "alias-limit": {
    title: "Aliases make the text too large",
    help: "Followed to the end, the aliases and merge keys add more nodes than are read. Write the parts out.",
  },
  "conflicting-keys": {
    title: "Keys that exclude one another",
    help: "Two keys say the same or opposite things, so one of them would be passed over. Keep one.",
  },
  "duplicate-key": {
    title: "A key is given twice",
    help: "One of the two values would be lost. Remove one, or give it another name.",
  },
  "duplicate-name": {
    title: "Two steps of a list have one name",
    help: "`steps.NAME` has to mean one step. Give one of them another name.",
  },
  "empty-condition": { title: "`if:` has no expression", help: "Write one, or remove the key." },
  "empty-run": { title: "The list of steps is empty", help: "Nothing will run. Add a step if that is not meant." },
  "empty-script": { title: "The script is empty", help: "Write commands, or remove the step." },
  "expression-not-allowed": {
    title: "An expression where only literal text is taken",
    help: "Names, specs and revisions are read before anything runs. Write the text itself.",
  },
  "invalid-character": {
    title: "A character that cannot be there",
    help: "Control characters are no YAML, no process takes a NUL, and U+FFFD means that the text was not UTF-8.",
  },
  "invalid-expression": {
    title: "What stands in `${{ }}` is no expression",
    help: "The message says what was expected, and where. The language is described in docs/reference/expressions.md.",
  },
  "invalid-key": { title: "A key that is no text", help: "Keys are strings, and not empty." },
  "invalid-merge": {
    title: "A merge key merges no mapping",
    help: "`<<:` takes an alias of a mapping, or a list of them.",
  },
  "invalid-name": {
    title: "A malformed name",
    help: "Names hold letters, digits and `_`, and begin with no digit; those of steps may hold hyphens.",
  },
  "invalid-reference": {
    title: "A malformed reference",
    help: "See docs/reference/references.md for the forms: `./dir`, `host/group/project@REV`, `registry/repository:tag`, `x.zip`.",
  },
  "invalid-value": { title: "A word that the key does not take", help: "The hint has those that it takes." },
  "missing-key": { title: "A key is missing", help: "The message names it." },
  "not-supported": {
    title: "Something that this release does not do",
    help: "Leaving it out would run something else, so it is refused.",
  },
  "text-too-large": { title: "The text is too large", help: "Split it." },
  "too-deep": { title: "The text is nested too deeply", help: "Move inner lists of steps to step files." },
  "too-many-documents": { title: "The text has too many documents", help: "A step file has two." },
  "too-many-problems": { title: "More problems are not shown", help: "Mend those that are shown, and look again." },
  "unknown-alias": {
    title: "An alias of nothing",
    help: "An alias names an anchor that stands before it and does not hold it.",
  },
  "unknown-key": {
    title: "An unknown key",
    help: "It would have no effect. Keys that begin with `x-` or `.` are yours; `--lenient` makes this a warning.",
  },
  "unknown-tag": { title: "An unknown YAML tag", help: "Remove it." },
  "wrong-type": { title: "A value of the wrong kind", help: "The message says what is taken and what was found." },
  "yaml-syntax": {
    title: "The text is no YAML",
    help: "Often a quote or an indentation is wrong, or a text with `: ` in it is not quoted.",
  },
};
