import type { Value } from "@steps/model";
import { spendText } from "./budget.ts";
import { publicError } from "./error.ts";
import { evaluateNode } from "./evaluate-node.ts";
import { availableIn, createEvaluation, type EvaluateOptions, type Evaluation } from "./evaluation.ts";
import { findNameProblems } from "./names.ts";
import { type Data, FilteredArray, textOf } from "./operators.ts";
import { hasExpression, parseTemplate, type PlacedExpression, type Template } from "./template.ts";

/**
 * Evaluates a text with `${{ }}`: exactly one expression and nothing else keeps its type, expressions among text become
 * text, a text without any is its own value. The result of an expression is never searched for expressions again.
 *
 * Arrays and objects are those of the contexts, not copies.
 *
 * @throws {GithubExpressionError}
 */
export function evaluateTemplate(text: string, options: EvaluateOptions): Value {
  if (!hasExpression(text)) return text;
  const template = parseTemplate(text);
  const evaluation = createEvaluation(options);
  const [only] = template;
  if (template.length === 1 && typeof only === "object") return plain(evaluateExpression(only, evaluation));
  return evaluateParts(template, evaluation);
}

/**
 * Evaluates a text with `${{ }}` to text: `null` is empty, arrays and objects are only `Array` and `Object`.
 *
 * @throws {GithubExpressionError}
 */
export function evaluateText(text: string, options: EvaluateOptions): string {
  return toText(evaluateTemplate(text, options));
}

/** A value as GitHub's language turns it into text. */
export function toText(value: Value): string {
  return textOf(value);
}

/** Text and expressions as one text. @throws {GithubExpressionError} */
export function evaluateParts(template: Template, evaluation: Evaluation): string {
  let text = "";
  for (const part of template) {
    if (typeof part === "string") text += part;
    else text += evaluatePart(part, evaluation);
  }
  return text;
}

function evaluatePart(part: PlacedExpression, evaluation: Evaluation): string {
  const piece = textOf(evaluateExpression(part, evaluation));
  try {
    spendText(evaluation.budget, piece.length);
  } catch (error) {
    throw publicError(error, part.source, part.offset);
  }
  return piece;
}

/** The value of one expression; its names are looked at first, those of parts that need no value, too. */
export function evaluateExpression(expression: PlacedExpression, evaluation: Evaluation): Data {
  try {
    const [problem] = findNameProblems(expression, availableIn(evaluation));
    if (problem !== undefined) throw problem;
    return evaluateNode(expression.node, evaluation);
  } catch (error) {
    throw publicError(error, expression.source, expression.offset);
  }
}

function plain(data: Data): Value {
  return data instanceof FilteredArray ? [...data.items] : data;
}
