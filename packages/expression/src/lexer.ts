import { ExpressionError, type ExpressionErrorCode } from "./error.ts";

type TokenKind = "end" | "name" | "number" | "single-quoted" | "double-quote" | "symbol";

/**
 * A cursor over a template, standing on one token. The closing `}}` is no token of its own: in `{a: {b: 1}}}}` only the
 * parser knows which braces close what. For the same reason a double-quoted string is read piece by piece.
 */
export interface Lexer {
  readonly source: string;
  /** The current token. */
  kind: TokenKind;
  start: number;
  end: number;
  /** A name, a symbol, or what a single-quoted string holds. */
  text: string;
  /** The value of a number. */
  number: number;
}

export function createLexer(source: string, offset: number): Lexer {
  return { source, kind: "end", start: offset, end: offset, text: "", number: 0 };
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const NUMBER_TAIL = /[A-Za-z0-9_.]/y;
const SYMBOL = /\|\||&&|==|!=|<=|>=|[-+*/%!<>()[\]{}.,:]/y;

/** Moves to the next token. @throws {ExpressionError} */
export function advance(lexer: Lexer): void {
  const { source } = lexer;
  let at = lexer.end;
  while (isSpace(source.charCodeAt(at))) at++;
  lexer.start = at;
  if (at >= source.length) return setToken(lexer, "end", "", at);
  const first = source[at] as string;
  if (first === '"') return setToken(lexer, "double-quote", first, at + 1);
  if (first === "'") return readSingleQuoted(lexer);
  if (first >= "0" && first <= "9") return readNumber(lexer);
  const name = match(NAME, source, at);
  if (name !== undefined) return setToken(lexer, "name", name, at + name.length);
  const symbol = match(SYMBOL, source, at);
  if (symbol !== undefined) return setToken(lexer, "symbol", symbol, at + symbol.length);
  throw characterError(source, at);
}

function setToken(lexer: Lexer, kind: TokenKind, text: string, end: number): void {
  lexer.kind = kind;
  lexer.text = text;
  lexer.end = end;
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

/** Space, tab, carriage return, line feed. */
export function isSpace(unit: number): boolean {
  return unit === 32 || unit === 9 || unit === 13 || unit === 10;
}

function characterError(source: string, at: number): ExpressionError {
  const character = String.fromCodePoint(source.codePointAt(at) as number);
  const hints: Readonly<Record<string, string>> = {
    "=": "Compare with ==.",
    "&": "Write && for and.",
    "|": "Write || for or.",
    $: "Inside an expression names are written without ${{ }}.",
  };
  const hint = Object.hasOwn(hints, character) ? hints[character] : undefined;
  return syntaxError("UNEXPECTED_CHARACTER", `Unexpected character "${character}"`, {
    source,
    start: at,
    end: at + character.length,
    hint,
  });
}

function readNumber(lexer: Lexer): void {
  const { source, start } = lexer;
  const text = match(NUMBER, source, start) as string;
  const end = start + text.length;
  const tail = match(NUMBER_TAIL, source, end);
  if (tail !== undefined) {
    throw syntaxError("BAD_NUMBER", `Malformed number "${text}${tail}"`, { source, start, end: end + tail.length });
  }
  const number = Number(text);
  if (!Number.isFinite(number)) throw syntaxError("BAD_NUMBER", "The number is too large", { source, start, end });
  setToken(lexer, "number", "", end);
  lexer.number = number;
}

// Only \\ and \' are escapes here; any other backslash stays as it is.
function readSingleQuoted(lexer: Lexer): void {
  const { source, start } = lexer;
  const parts: string[] = [];
  let from = start + 1;
  for (let at = from; at < source.length; at++) {
    const unit = source[at];
    if (unit === "'") {
      parts.push(source.slice(from, at));
      return setToken(lexer, "single-quoted", parts.join(""), at + 1);
    }
    if (unit === "\\" && (source[at + 1] === "\\" || source[at + 1] === "'")) {
      parts.push(source.slice(from, at));
      from = at + 1;
      at++;
    }
  }
  throw syntaxError("UNTERMINATED_STRING", "The string is not closed", { source, start, end: start + 1 });
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\",
  '"': '"',
  "/": "/",
  n: "\n",
  r: "\r",
  t: "\t",
  a: "\u0007",
  b: "\b",
  f: "\f",
  v: "\v",
};

/**
 * Reads a double-quoted string from `lexer.end` to its closing quote or to an expression inside, and moves behind it.
 */
export function readStringPart(lexer: Lexer, quote: number): { text: string; isLast: boolean } {
  const { source } = lexer;
  const parts: string[] = [];
  let from = lexer.end;
  for (let at = from; at < source.length; at++) {
    const unit = source[at];
    if (unit === '"') return finish(1, true);
    if (unit === "$" && source.startsWith("${{", at)) return finish(3, false);
    if (unit === "\\") {
      const escape = readEscape(source, at);
      parts.push(source.slice(from, at), escape.text);
      at += escape.length - 1;
      from = at + 1;
    }

    function finish(length: number, isLast: boolean): { text: string; isLast: boolean } {
      parts.push(source.slice(from, at));
      lexer.end = at + length;
      return { text: parts.join(""), isLast };
    }
  }
  throw syntaxError("UNTERMINATED_STRING", "The string is not closed", { source, start: quote, end: quote + 1 });
}

function readEscape(source: string, at: number): { text: string; length: number } {
  const letter = source[at + 1] ?? "";
  const simple = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
  if (simple !== undefined) return { text: simple, length: 2 };
  if (source.startsWith("${{", at + 1)) return { text: "${{", length: 4 };
  const digits = source.slice(at + 2, at + 6);
  if (letter === "u" && /^[0-9a-fA-F]{4}$/.test(digits)) {
    return { text: String.fromCharCode(Number.parseInt(digits, 16)), length: 6 };
  }
  const end = Math.min(source.length, at + 2);
  throw syntaxError("BAD_ESCAPE", `Unknown escape "${source.slice(at, end)}"`, {
    source,
    start: at,
    end,
    hint: String.raw`Escapes are \\ \" \/ \n \r \t \a \b \f \v \uXXXX and \${{; write \\ for a backslash.`,
  });
}

/** An error at a span. Which `${{ }}` it is in is for the reader of the template to add. */
export function syntaxError(
  code: ExpressionErrorCode,
  message: string,
  span: { source: string; start: number; end: number; hint?: string | undefined },
): ExpressionError {
  const place = { offset: span.start, length: span.end - span.start, expression: "" };
  return new ExpressionError(code, message, { place, hint: span.hint });
}
