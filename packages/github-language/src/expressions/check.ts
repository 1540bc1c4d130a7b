import { GithubExpressionError, type GithubExpressionErrorCode, publicError } from "./error.ts";
import { type Available, findNameProblems, STATUS_FUNCTIONS } from "./names.ts";
import { hasExpression, parsePlaced, splitTemplate } from "./template.ts";
import { warn } from "./condition.ts";

/** The names that exist in the place of a text. `CONTEXTS_OF` has them for the places of manifests and workflows. */
export interface AvailableNames {
  readonly contexts: readonly string[];
  /** The functions that do not exist everywhere: `hashFiles`, `success`, `failure`, `always`, `cancelled`. */
  readonly functions?: readonly string[];
}

/** Something wrong with an expression, before anything runs. */
export interface ExpressionProblem {
  readonly severity: "error" | "warning";
  readonly code: GithubExpressionErrorCode | "ALWAYS_TRUE";
  /** Sentence case, no final period. */
  readonly message: string;
  /** The offset in the text that was checked, in UTF-16 units. */
  readonly offset: number;
  /** The length in UTF-16 units; it may be 0 at the end of a text. */
  readonly length: number;
  readonly hint?: string;
}

/**
 * Looks at a text with `${{ }}` without evaluating it: syntax, names that do not exist, contexts and functions that are not
 * available where it stands, wrong numbers of arguments. All problems in the order of the text, of an expression that
 * cannot be read only the first; nothing is thrown.
 */
export function checkTemplate(text: string, names: AvailableNames): readonly ExpressionProblem[] {
  if (!hasExpression(text)) return [];
  const problems: ExpressionProblem[] = [];
  try {
    for (const piece of splitTemplate(text)) {
      if (piece.type === "expression") problems.push(...checkExpression(piece.source, piece.offset, names));
    }
  } catch (error) {
    problems.push(problemOf(error));
  }
  return problems;
}

/**
 * `checkTemplate` for an `if`, with or without `${{ }}`; also warns of text that makes it always true. Without `functions` the
 * status functions exist.
 */
export function checkCondition(text: string, names: AvailableNames): readonly ExpressionProblem[] {
  const known = { functions: STATUS_FUNCTIONS, ...names };
  if (text.trim() === "") return [];
  if (!hasExpression(text)) return checkExpression(text, 0, known);
  const problems = checkTemplate(text, known);
  return problems.some(({ code }) => code === "UNTERMINATED_EXPRESSION") ? problems : [...problems, ...warnings(text)];
}

function warnings(text: string): ExpressionProblem[] {
  const pieces = Array.from(splitTemplate(text), (piece) => (piece.type === "text" ? piece.text : piece));
  if (pieces.length === 1) return [];
  const first = pieces.find((piece) => typeof piece === "string") ?? "";
  const place = { offset: text.indexOf(first), length: first.length };
  const hint = "Put the whole condition inside one ${{ }}, or leave the braces away";
  return [{ severity: "warning", code: "ALWAYS_TRUE", message: warn(text, pieces), ...place, hint }];
}

function checkExpression(source: string, offset: number, names: AvailableNames): ExpressionProblem[] {
  try {
    const expression = parsePlaced(source, offset);
    const failures = [...findNameProblems(expression, availableOf(names))];
    return failures.map((failure) => problemOf(publicError(failure, source, offset))).toSorted(byOffset);
  } catch (error) {
    return [problemOf(error)];
  }
}

function byOffset(a: ExpressionProblem, b: ExpressionProblem): number {
  return a.offset - b.offset;
}

function availableOf({ contexts, functions = [] }: AvailableNames): Available {
  const lower = functions.map((name) => name.toLowerCase());
  return {
    hasContext: (name) => contexts.some((context) => context.toLowerCase() === name),
    hasFunction: (name) => lower.includes(name),
    contextNames: () => contexts,
  };
}

function problemOf(error: unknown): ExpressionProblem {
  if (!(error instanceof GithubExpressionError)) throw error;
  const { code, message, offset, length, hint } = error;
  return { severity: "error", code, message, offset, length, hint };
}
