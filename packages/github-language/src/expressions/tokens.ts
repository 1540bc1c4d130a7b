import { Lexer, type Token, TokenType } from "@actions/expressions/lexer";
import { clip, Failure } from "./error.ts";
import { expressionLimits } from "./limits.ts";
import { parseNumber } from "./number.ts";

/**
 * The tokens of an expression by GitHub's lexer. Their `range` is ours: the column is the offset in the expression, which
 * the lexer's own loses after a string of several lines. Strings and numbers get the values that the runner gives them.
 *
 * @throws {Failure}
 */
export function readTokens(source: string): Token[] {
  if (source.length > expressionLimits.maxExpressionLength) {
    const most = expressionLimits.maxExpressionLength;
    throw new Failure("EXPRESSION_TOO_LONG", `The expression has ${source.length} characters; the limit is ${most}`);
  }
  const tokens = lex(withPlainSpaces(source));
  let offset = 0;
  return tokens.map((token) => {
    offset = skipSpace(source, offset);
    const placed = placeToken(token, source, offset);
    offset += token.lexeme.length;
    return placed;
  });
}

function placeToken(token: Token, source: string, offset: number): Token {
  const end = offset + token.lexeme.length;
  const lexeme = source.slice(offset, end);
  const range = { start: { line: 0, column: offset }, end: { line: 0, column: end } };
  const value = valueOf(token, lexeme);
  if (value !== undefined && Number.isNaN(value) && lexeme !== "NaN") throw unexpected(lexeme, offset);
  return value === undefined ? { type: token.type, lexeme, range } : { type: token.type, lexeme, range, value };
}

function valueOf(token: Token, lexeme: string): string | number | undefined {
  // The lexer unescapes only the first quote of a string.
  if (token.type === TokenType.STRING) return lexeme.slice(1, -1).replaceAll("''", "'");
  if (token.type === TokenType.NUMBER) return lexeme === "NaN" ? Number.NaN : parseNumber(lexeme);
  return undefined;
}

// White space by .NET's definition that the lexer does not skip. It is replaced unit by unit, so that offsets remain.
const OTHER_SPACE = /[\f\v\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
const STRING_OR_OTHER_SPACE = /'[^']*'?|[\f\v\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g;
const ANY_SPACE = /[ \r\t\n\f\v\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

function withPlainSpaces(source: string): string {
  if (!OTHER_SPACE.test(source)) return source;
  return source.replace(STRING_OR_OTHER_SPACE, (match) => (match.startsWith("'") ? match : " "));
}

function skipSpace(source: string, from: number): number {
  let offset = from;
  while (offset < source.length && ANY_SPACE.test(source.charAt(offset))) offset++;
  return offset;
}

function lex(source: string): Token[] {
  try {
    return new Lexer(source).lex().tokens;
  } catch (error) {
    throw lexicalFailure(error, source);
  }
}

// The message ends with the position and then the whole expression, which may hold anything.
function lexicalFailure(error: unknown, source: string): Failure {
  const message = error instanceof Error ? error.message : "";
  const known = message.slice(0, Math.max(0, message.length - ` within expression: ${source}`.length));
  const position = /Located at position (\d+)$/.exec(known)?.[1];
  const offset = position === undefined ? 0 : Number(position) - 1;
  const symbol = position === undefined ? source : source.slice(offset, endOfSymbol(known, offset));
  return unexpected(symbol, offset);
}

function endOfSymbol(known: string, offset: number): number {
  const quoted = known.lastIndexOf("'. Located at position");
  return offset + quoted - "Unexpected symbol: '".length;
}

/** The failure for a piece of source that cannot stand where it does. */
export function unexpected(symbol: string, offset: number): Failure {
  return new Failure("UNEXPECTED_SYMBOL", `Unexpected symbol "${clip(symbol)}"`, {
    offset,
    length: symbol.length,
    hint: symbolHint(symbol),
  });
}

function symbolHint(symbol: string): string | undefined {
  if (symbol.startsWith("'")) return "The quote is not closed; a quote inside a string is written twice";
  if (/["`]/.test(symbol)) return "Strings are written in single quotes";
  if (/^[-+]|^[*/%]$/.test(symbol)) return "Expressions have no arithmetic";
  if (symbol.startsWith("=")) return 'Equality is written "=="';
  if (symbol.startsWith("&")) return 'And is written "&&"';
  return symbol.startsWith("|") ? 'Or is written "||"' : undefined;
}
