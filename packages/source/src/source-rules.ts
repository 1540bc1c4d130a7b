import type { DiagnosticRule } from "@steps/model";

/** The codes of diagnostics that any text may have, whatever its language. They do not change. */
export type SourceCode =
  | "alias-limit"
  | "duplicate-key"
  | "invalid-character"
  | "invalid-key"
  | "invalid-merge"
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
  "duplicate-key": {
    title: "A key is given twice",
    help: "One of the two values would be lost. Remove one, or give it another name.",
  },
  "invalid-character": {
    title: "A character that cannot be there",
    help: "Control characters are no YAML, no process takes a NUL, and U+FFFD means that the text was not UTF-8.",
  },
  "invalid-key": { title: "A key that is no text", help: "Keys are strings, and not empty." },
  "invalid-merge": {
    title: "A merge key merges no mapping",
    help: "`<<:` takes an alias of a mapping, or a list of them.",
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
