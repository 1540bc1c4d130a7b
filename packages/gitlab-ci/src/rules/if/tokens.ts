import { IfError } from "./if-error.ts";

export type IfOperator = "==" | "!=" | "=~" | "!~" | "&&" | "||" | "!";

export interface IfToken {
  readonly kind: "variable" | "string" | "pattern" | "null" | "boolean" | "operator" | "open" | "close";
  /** The name of a variable, what a string holds, the operator; of all others the text as written. */
  readonly text: string;
  /** UTF-16 units from the start of the condition. */
  readonly offset: number;
  readonly length: number;
}

/** GitLab's own limit is that a condition has fewer tokens than this. */
const MAX_TOKENS = 100;

const BLANK = /[ \t\r\n\f\v]*/y;
const VARIABLE = /\$([A-Za-z0-9_]+)/y;
const WORD = /null|(?:true|false)(?![A-Za-z0-9_])/y;
const OPERATOR = /==|=~|!=|!~|&&|\|\||!/y;
const FLAGS = /[ismU]*/y;

/**
 * Splits a condition into tokens, as GitLab's lexer does: names of variables without braces, strings without escapes and on
 * one line, at most 99 tokens. It reads no further than that, however long the text is.
 *
 * @throws {IfError}
 */
export function readTokens(text: string): readonly IfToken[] {
  const tokens: IfToken[] = [];
  for (let at = skipBlanks(text, 0); at < text.length;) {
    const token = readToken(text, at);
    tokens.push(token);
    if (tokens.length >= MAX_TOKENS) {
      throw new IfError(`The condition has ${MAX_TOKENS} parts or more`, token, "Divide it among several rules.");
    }
    at = skipBlanks(text, at + token.length);
  }
  return tokens;
}

function skipBlanks(text: string, at: number): number {
  return at + (match(BLANK, text, at)?.[0].length ?? 0);
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function readToken(text: string, offset: number): IfToken {
  const first = text[offset];
  if (first === "(" || first === ")") {
    return { kind: first === "(" ? "open" : "close", text: first, offset, length: 1 };
  }
  if (first === '"' || first === "'") return readString(text, offset, first);
  if (first === "/") return readPattern(text, offset);
  const variable = match(VARIABLE, text, offset);
  if (variable) return { kind: "variable", text: variable[1] ?? "", offset, length: variable[0].length };
  const word = match(WORD, text, offset)?.[0];
  if (word !== undefined) {
    return { kind: word === "null" ? "null" : "boolean", text: word, offset, length: word.length };
  }
  const operator = match(OPERATOR, text, offset)?.[0];
  if (operator !== undefined) return { kind: "operator", text: operator, offset, length: operator.length };
  throw unknown(text, offset);
}

function readString(text: string, offset: number, quote: string): IfToken {
  const end = text.indexOf(quote, offset + 1);
  const line = text.indexOf("\n", offset);
  if (end === -1 || (line !== -1 && line < end)) {
    throw new IfError("A string is not closed", { offset, length: 1 }, `Write ${quote} at its end, on the same line.`);
  }
  return { kind: "string", text: text.slice(offset + 1, end), offset, length: end + 1 - offset };
}

// GitLab's own expression for a pattern takes two characters at least, and a slash that follows the last one.
function readPattern(text: string, offset: number): IfToken {
  let end = offset + 1;
  while (end < text.length && text[end] !== "/") end += text[end] === "\\" && text[end + 1] === "/" ? 2 : 1;
  if (text[end] !== "/") {
    throw new IfError("A pattern is not closed", { offset, length: 1 }, "Write / at its end; inside, a slash is \\/.");
  }
  if (text[end + 1] === "/" && end > offset + 1) end += 1;
  if (end - offset < 3) {
    const at = { offset, length: end + 1 - offset };
    throw new IfError(
      "A pattern has fewer than two characters",
      at,
      'Compare a single letter with ==, or write "/^a/".',
    );
  }
  const length = end + 1 - offset + (match(FLAGS, text, end + 1)?.[0].length ?? 0);
  return { kind: "pattern", text: text.slice(offset, offset + length), offset, length };
}

const WRONG_OPERATORS: Readonly<Record<string, string>> = {
  "=": "Compare with == or, for a pattern, with =~.",
  "&": "Write && for and.",
  "|": "Write || for or.",
};

function unknown(text: string, offset: number): IfError {
  if (text[offset] === "$") {
    const name = /\$\{([A-Za-z0-9_]+)\}/y;
    const braces = match(name, text, offset);
    const at = { offset, length: braces?.[0].length ?? 1 };
    const hint = braces ? `Conditions take variables without braces: $${braces[1] ?? ""}.` : undefined;
    return new IfError(braces ? "A variable is written with braces" : "There is no name after $", at, hint);
  }
  const word = match(/[^\s()"'$=!&|/]{1,40}/y, text, offset)?.[0] ?? text.charAt(offset);
  const hint = WRONG_OPERATORS[text.charAt(offset)] ?? `A variable is $NAME, a text stands in quotes.`;
  return new IfError(`"${word}" is no part of a condition`, { offset, length: word.length }, hint);
}
