import { createCache } from "./cache.ts";
import { Failure, publicError } from "./error.ts";
import { type Expression, parseExpression } from "./parse-expression.ts";

/** One piece of a template: literal text, or the source of an expression and where in the text it starts. */
export type TemplatePiece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "expression"; readonly source: string; readonly offset: number };

/** An expression with its source. */
export interface PlacedExpression extends Expression {
  readonly source: string;
  /** The offset of the source in the template. */
  readonly offset: number;
}

/** Literal text and expressions as they follow one another; no two texts in a row, none of them empty. */
export type Template = readonly (string | PlacedExpression)[];

/** Whether a text holds the start of an expression. */
export function hasExpression(text: string): boolean {
  return text.includes("${{");
}

/**
 * Splits a text at `${{ }}`; an end inside a string of an expression is none.
 *
 * @throws {GithubExpressionError} UNTERMINATED_EXPRESSION
 */
export function* splitTemplate(text: string): Generator<TemplatePiece> {
  let done = 0;
  for (let start = text.indexOf("${{"); start !== -1; start = text.indexOf("${{", done)) {
    if (start > done) yield { type: "text", text: text.slice(done, start) };
    const offset = start + 3;
    const end = findEnd(text, offset);
    if (end === -1) throw publicError(unterminated(), text.slice(start), start);
    yield { type: "expression", source: text.slice(offset, end), offset };
    done = end + 2;
  }
  if (done < text.length) yield { type: "text", text: text.slice(done) };
}

function findEnd(text: string, from: number): number {
  const interesting = /'|\}\}/g;
  interesting.lastIndex = from;
  let isInString = false;
  for (let match = interesting.exec(text); match !== null; match = interesting.exec(text)) {
    if (match[0] === "'") isInString = !isInString;
    else if (!isInString) return match.index;
    else interesting.lastIndex = match.index + 1;
  }
  return -1;
}

function unterminated(): Failure {
  return new Failure("UNTERMINATED_EXPRESSION", 'The expression is not closed: there is "${{" without "}}"', {
    offset: 0,
    length: 3,
    hint: "Check that the quotes in it are closed; a literal \"${{\" is written ${{ '${{' }}",
  });
}

const templates = createCache<Template>();
const expressions = createCache<PlacedExpression>();

/** Reads a text with `${{ }}`. @throws {GithubExpressionError} */
export function parseTemplate(text: string): Template {
  return templates.get(text, () =>
    Array.from(splitTemplate(text), (piece) =>
      piece.type === "text" ? piece.text : parsePlaced(piece.source, piece.offset),
    ),
  );
}

/** Reads a text that is an expression as a whole. @throws {GithubExpressionError} */
export function parseWhole(source: string): PlacedExpression {
  return expressions.get(source, () => parsePlaced(source, 0));
}

/** Reads an expression that stands somewhere in a text. @throws {GithubExpressionError} */
export function parsePlaced(source: string, offset: number): PlacedExpression {
  try {
    return { ...parseExpression(source), source, offset };
  } catch (error) {
    throw publicError(error, source, offset);
  }
}
