import type { Expression } from "./ast.ts";
import { matchDotted } from "./dotted.ts";
import { ExpressionError, withPlace } from "./error.ts";
import { syntaxError } from "./lexer.ts";
import { limits } from "./limits.ts";
import { type ParsedExpression, parseExpression } from "./parser.ts";

const OPENING = "${{";
const MAX_ERRORS = 100;

/** Whether a text holds a complete `${{` that no backslash escapes. */
export function hasExpression(text: string): boolean {
  let at = text.indexOf(OPENING);
  while (at !== -1) {
    if (text[at - 1] !== "\\") return true;
    at = text.indexOf(OPENING, at + OPENING.length);
  }
  return false;
}

/** Writes `\${{` for each `${{`, so that `expand()` gives the text back. */
export function escapeTemplate(text: string): string {
  return text.includes(OPENING) ? text.replaceAll(OPENING, () => `\\${OPENING}`) : text;
}

export interface TemplateParts {
  /** Texts with their escapes undone, never empty, never two in a row. */
  readonly parts: readonly (string | Expression)[];
  readonly errors: readonly ExpressionError[];
}

let last: { readonly source: string; readonly read: TemplateParts } | undefined;

/**
 * Reads a template with all its errors (the first hundred). Behind an error reading goes on at the next `}}`. The template that
 * was read last is kept, since a text is looked at from several sides in a row.
 */
export function readTemplate(source: string): TemplateParts {
  if (last?.source !== source) last = { source, read: read(source) };
  return last.read;
}

function read(source: string): TemplateParts {
  const parts: (string | Expression)[] = [];
  const errors: ExpressionError[] = [];
  if (source.length > limits.maxSourceLength && source.includes(OPENING)) {
    return { parts, errors: [sourceError()] };
  }
  const counter = { nodes: 0 };
  let text = "";
  let from = 0;
  for (;;) {
    const at = source.indexOf(OPENING, from);
    if (at === -1) break;
    if (at > from && source[at - 1] === "\\") {
      text += source.slice(from, at - 1) + OPENING;
      from = at + OPENING.length;
      continue;
    }
    text += source.slice(from, at);
    if (text !== "") parts.push(text);
    text = "";
    const expression = readExpression(source, at, counter);
    if (expression instanceof ExpressionError) {
      errors.push(expression);
      from = at + expression.expression.length;
      if (errors.length === MAX_ERRORS) break;
    } else {
      parts.push(expression);
      from = expression.end;
    }
  }
  text += source.slice(from);
  if (text !== "") parts.push(text);
  return { parts, errors };
}

function sourceError(): ExpressionError {
  const message = `A text with expressions may have ${limits.maxSourceLength} characters at most`;
  return new ExpressionError("SOURCE_TOO_LARGE", message);
}

function readExpression(source: string, start: number, counter: { nodes: number }): Expression | ExpressionError {
  let parsed: ParsedExpression;
  try {
    parsed = parseExpression(source, start + OPENING.length, counter);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const placed = placeError(error, source, start);
    const isLimit = error.code === "TOO_MANY_NODES" || error.code === "NESTING_TOO_DEEP";
    const dotted = isLimit ? undefined : matchDotted(source, start + OPENING.length);
    if (!dotted) return placed;
    const { names, end } = dotted;
    return { start, end, node: undefined, error: placed, dotted: names, roots: [names[0] as string], calls: [] };
  }
  const { node, end } = parsed;
  // Only a subtraction may be a hyphenated name in disguise; everything else means the same in both languages.
  const isSubtraction = node.kind === "binary" && node.rest.every((link) => link.operator === "-");
  const names = isSubtraction ? matchDotted(source, start + OPENING.length)?.names : undefined;
  const roots = names ? parsed.roots.filter((root) => root === names[0]) : parsed.roots;
  return { start, end, node, error: undefined, dotted: names, roots, calls: parsed.calls };
}

function placeError(error: ExpressionError, source: string, start: number): ExpressionError {
  const closing = source.indexOf("}}", Math.max(error.offset, start + OPENING.length));
  const expression = source.slice(start, closing === -1 ? source.length : closing + 2);
  if (closing === -1 && error.code !== "UNTERMINATED_STRING" && source.indexOf("}}", start) === -1) {
    const hint = String.raw`Close it with }}, or write \${{ for the characters themselves.`;
    const unclosed = syntaxError("UNTERMINATED_EXPRESSION", "The expression is not closed", {
      source,
      start,
      end: start + OPENING.length,
      hint,
    });
    return withPlace(unclosed, () => ({ offset: start, length: OPENING.length, expression })) as ExpressionError;
  }
  const { offset, length } = error;
  return withPlace(error, () => ({ offset, length, expression })) as ExpressionError;
}
