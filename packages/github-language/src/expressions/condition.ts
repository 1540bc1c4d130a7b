import { clip } from "./error.ts";
import { evaluateExpression, evaluateParts } from "./evaluate.ts";
import { createEvaluation, type EvaluateOptions } from "./evaluation.ts";
import { explain } from "./explain.ts";
import { STATUS_FUNCTIONS } from "./names.ts";
import type { Node } from "./node.ts";
import { type Data, isTruthy } from "./operators.ts";
import { hasExpression, parseTemplate, parseWhole, type PlacedExpression, type Template } from "./template.ts";

/** The result of a condition. */
export interface ConditionResult {
  readonly holds: boolean;
  /**
   * Which part decided, one line of at most 500 characters: `` `github.ref == 'refs/heads/main'` is false ("refs/heads/x") ``.
   * It contains neither values of the context `secrets` nor `github.token`.
   */
  readonly explanation: string;
  /** Text around `${{ }}` makes a condition a text, which is always true: almost never what was meant. */
  readonly warning?: string;
}

/**
 * Evaluates the text of an `if`, with or without `${{ }}`. Absent or blank: `success()`. Where it calls no status function
 * and there is a status, it holds only after success, and is not evaluated otherwise.
 *
 * @throws {GithubExpressionError}
 */
export function evaluateCondition(text: string | undefined, options: EvaluateOptions): ConditionResult {
  const isAfterSuccess = options.status?.isSuccess ?? true;
  if (text === undefined || text.trim() === "") return afterSteps(isAfterSuccess);
  const condition = readCondition(text);
  const isWrapped = !condition.expressions.some(({ calls }) => calls.some(isStatusCall));
  const result = isWrapped && !isAfterSuccess ? afterSteps(false) : evaluate(condition, options);
  return condition.warning === undefined ? result : { ...result, warning: condition.warning };
}

function afterSteps(holds: boolean): ConditionResult {
  return { holds, explanation: `\`success()\` is ${holds}` };
}

function evaluate({ template, expressions }: Condition, options: EvaluateOptions): ConditionResult {
  const trace = new Map<Node, Data>();
  const evaluation = createEvaluation(options, trace);
  const [only] = expressions;
  if (template !== undefined || only === undefined) {
    const text = evaluateParts(template ?? [], evaluation);
    const explanation =
      text === "" ? "the condition is an empty text" : "the condition is a text, which is always true";
    return { holds: text !== "", explanation };
  }
  const holds = isTruthy(evaluateExpression(only, evaluation));
  return { holds, explanation: explain(only.node, trace, options.contexts) };
}

/** The text of an `if`, read. */
interface Condition {
  readonly expressions: readonly PlacedExpression[];
  /** Present where there is text around `${{ }}`. */
  readonly template?: Template;
  readonly warning?: string;
}

/** Reads the text of an `if` that is not blank. @throws {GithubExpressionError} */
function readCondition(text: string): Condition {
  if (!hasExpression(text)) return { expressions: [parseWhole(text)] };
  const template = parseTemplate(text);
  const expressions = template.filter((part) => typeof part === "object");
  return template.length === 1 ? { expressions } : { expressions, template, warning: warn(text, template) };
}

/** Why a condition with text around its expressions is always true. */
export function warn(text: string, template: readonly unknown[]): string {
  const isSpace = template.every((part) => typeof part !== "string" || part.trim() === "");
  const what = isSpace ? "White space" : "Text";
  return `${what} outside of \${{ }} makes the condition a text, which is always true: ${JSON.stringify(clip(text))}`;
}

function isStatusCall({ name }: { readonly name: string }): boolean {
  return STATUS_FUNCTIONS.includes(name);
}
