import type { Source } from "@steps/model/diagnostic";

/** A problem as the parser of YAML has it. */
export interface YamlProblem {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** The same in words of what somebody wrote. */
export interface ExplainedProblem {
  readonly offset: number;
  readonly length: number;
  readonly message: string;
  readonly hint?: string;
}

/** The line around a problem, and where in it the problem is. */
interface Line {
  readonly text: string;
  readonly start: number;
  /** The place of the problem in `text`. */
  readonly at: number;
}

type Explain = (
  problem: YamlProblem,
  line: Line,
) => { readonly message: string; readonly hint?: string; readonly from?: number; readonly length?: number } | undefined;

/**
 * Says what most likely is wrong with a text that is not YAML: what the parser says is about its own work, and often one line
 * or one character late.
 */
export function explainYamlProblem(source: Source, problem: YamlProblem): ExplainedProblem {
  const [from, to] = problem.pos;
  const line = lineAround(source.text, from);
  for (const explain of EXPLANATIONS) {
    const found = explain(problem, line);
    if (found === undefined) continue;
    const { message, hint } = found;
    const offset = found.from === undefined ? from : line.start + found.from;
    const length = found.length ?? Math.max(1, found.from === undefined ? to - from : 1);
    return { offset, length, message, hint };
  }
  return { offset: from, length: Math.max(1, to - from), message: problem.message.slice(0, 300).replace(/\.$/, "") };
}

/** Longest part of a line that is looked at. */
const MAX_LINE = 10_000;

function lineAround(text: string, offset: number): Line {
  const start = Math.max(text.lastIndexOf("\n", offset - 1) + 1, offset - MAX_LINE);
  const newline = text.indexOf("\n", offset);
  const end = Math.min(newline === -1 ? text.length : newline, start + 2 * MAX_LINE);
  return { text: text.slice(start, end), start, at: offset - start };
}

const QUOTE_IT = "Quote the whole value, or write it as a block after |.";

const EXPLANATIONS: readonly Explain[] = [
  (_, { text }) => {
    const blanks = /^ *\t/.exec(text);
    if (blanks === null) return undefined;
    const message = "The line is indented with a tab, which YAML does not take";
    return { message, hint: "Indent it with spaces.", from: blanks[0].length - 1 };
  },
  (_, { text }) => {
    const dashes = /^(--|----+)\s*$/.exec(text)?.[1];
    if (dashes === undefined) return undefined;
    const message = "The line does not separate documents: it has not three hyphens";
    return { message, hint: "Write --- on a line of its own.", from: 0, length: dashes.length };
  },
  ({ code }, { text }) => {
    const place = code === "BLOCK_AS_IMPLICIT_KEY" ? -1 : unquotedExpression(text);
    if (place === -1) return undefined;
    const message = "An expression stands in { } or [ ] without quotes";
    return { message, hint: 'Quote it: "${{ … }}".', from: place, length: 3 };
  },
  ({ code }) => {
    if (code !== "BLOCK_AS_IMPLICIT_KEY") return undefined;
    const message = "The value holds a colon followed by a blank, which makes a key of what is before it";
    return { message, hint: QUOTE_IT };
  },
  ({ code }, { text, at }) => {
    if (code !== "UNEXPECTED_TOKEN" || !/(?:"|')\s*$/.test(text.slice(0, at))) return undefined;
    return { message: "The value goes on behind its closing quote", hint: QUOTE_IT };
  },
  ({ code }, { text, at }) => {
    if (code !== "BAD_SCALAR_START") return undefined;
    return { message: `A value without quotes cannot begin with "${text[at] ?? ""}"`, hint: "Quote the whole value." };
  },
  ({ code, message }) => {
    const quote = code === "MISSING_CHAR" ? /^Missing closing (["'])quote/.exec(message)?.[1] : undefined;
    if (quote === undefined) return undefined;
    return {
      message: `A text in ${quote === '"' ? "double" : "single"} quotes does not end`,
      hint: `A quote is missing before this place, where the text should end: ${quote}.`,
    };
  },
  ({ message }) => {
    const bracket = /^Flow (?:map|sequence) in block collection must be .* end with a ([}\]])/.exec(message)?.[1];
    if (bracket === undefined) return undefined;
    const opening = bracket === "}" ? "{" : "[";
    return {
      message: `A "${opening}" has no "${bracket}", or its next line is not indented`,
      hint: `Close it with ${bracket}.`,
    };
  },
  ({ code, message }) => {
    if (code !== "MISSING_CHAR" || !message.startsWith("Missing , or :")) return undefined;
    const hint = "Separate items by commas; quote an item that holds a comma, a quote, a brace or a bracket.";
    return { message: "Two items in { } or [ ] have no comma between them", hint };
  },
  ({ code, message }) => {
    if (code !== "BAD_INDENT" || !message.startsWith("All ")) return undefined;
    const hint = "What belongs together begins in the same column.";
    return { message: "The line is indented neither like the lines before it nor as a part of them", hint };
  },
  ({ message }) => {
    if (!message.startsWith("Sequence item without -")) return undefined;
    const hint = "Indent it like the keys of the item above, or begin it with a hyphen.";
    return { message: "The line stands in a list and is no item of it", hint };
  },
  (_, { text, at }) => {
    const key = /^([\w.-]+):(?=[^\s:/])/.exec(text.slice(at))?.[1];
    if (key === undefined) return undefined;
    return {
      message: "A colon ends a key only with a blank behind it",
      hint: `Write ${key.slice(0, 40)}: and a blank before the value.`,
      from: at,
      length: key.length + 1,
    };
  },
  ({ code }) => {
    if (code !== "MULTILINE_IMPLICIT_KEY") return undefined;
    const hint = "Write KEY: VALUE; a text of several lines stands after |, indented.";
    return { message: "The line is no key with a value", hint };
  },
  ({ code }, { text, at }) => {
    if (code !== "BAD_DQ_ESCAPE") return undefined;
    const hint = "Write the text in single quotes, or the backslash twice.";
    return { message: `No escape in double quotes: "${text.slice(at, at + 2)}"`, hint };
  },
];

/** The place of a `${{` that is not in quotes though a brace or bracket is open before it; -1 if there is none. */
function unquotedExpression(text: string): number {
  let quote = "";
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text[i] as string;
    if (quote !== "") quote = unit === quote ? "" : quote;
    else if (unit === '"' || unit === "'") quote = unit;
    else if (depth > 0 && text.startsWith("${{", i)) return i;
    else if (unit === "{" || unit === "[") depth += 1;
    else if (unit === "}" || unit === "]") depth -= 1;
  }
  return -1;
}
