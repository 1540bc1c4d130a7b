import { type RuntimeString, type RuntimeValue, Sensitive } from "@steps/model";
import type { Expression } from "./ast.ts";
import { createBudget } from "./budget.ts";
import { formatDotted, lookUpDotted } from "./dotted.ts";
import { ExpressionError, shorten, withPlace } from "./error.ts";
import type { FunctionTable } from "./function.ts";
import { defaultFunctions } from "./functions.ts";
import { isSpace } from "./lexer.ts";
import { concatenate, type EvaluationContext, type Plan, planNode, textInText } from "./plan.ts";
import type { UnknownKeyReader } from "./access.ts";
import type { Scope } from "./scope.ts";
import { formatText, type MarkedText } from "./text.ts";
import { kindOf, unmark } from "./compare.ts";

/** Something the author should know though the expression has a value. */
export interface ExpressionNote {
  /** Kebab-case and stable; so far only `dotted-expression`. */
  readonly code: string;
  readonly message: string;
}

/** The options of an evaluation. */
export interface EvaluateOptions {
  /** Instead of `defaultFunctions`; spread those to add to them. */
  readonly functions?: FunctionTable;
  readonly onNote?: (note: ExpressionNote) => void;
  /** When true, an expression with text around it must be a string (conformance section 20 C3). */
  readonly isStrictMoa?: boolean;
  /**
   * Gives the value of a key that an object does not have; `undefined` for an error, UNKNOWN_KEY. Default: always an error. It is
   * not asked for a key that is marked sensitive.
   */
  readonly onUnknownKey?: UnknownKeyReader | undefined;
}

/** A context with a budget of its own. */
export interface TemplateContext extends EvaluationContext {
  readonly onNote: ((note: ExpressionNote) => void) | undefined;
}

export function createContext(scope: Scope, options: EvaluateOptions = {}): TemplateContext {
  const { functions = defaultFunctions, onNote, isStrictMoa = false, onUnknownKey } = options;
  return { scope, functions, onNote, isStrictMoa, onUnknownKey, budget: createBudget() };
}

/** One `${{ }}` ready to be evaluated. */
interface PlannedExpression extends Expression {
  readonly plan: Plan | undefined;
  readonly source: string;
}

/** A template ready to be evaluated. */
export interface PlannedTemplate {
  readonly parts: readonly (string | PlannedExpression)[];
  /** The one expression, if there is nothing else but white space. */
  readonly single: PlannedExpression | undefined;
}

export function planTemplate(source: string, parts: readonly (string | Expression)[]): PlannedTemplate {
  const planned = parts.map((part): string | PlannedExpression => {
    if (typeof part === "string") return part;
    const { start, end, node } = part;
    return { ...part, source, plan: node && planNode(node, { source, start, end }) };
  });
  const expressions = planned.filter((part) => typeof part !== "string");
  const isSingle = expressions.length === 1 && planned.every((part) => typeof part !== "string" || isWhiteSpace(part));
  return { parts: planned, single: isSingle ? expressions[0] : undefined };
}

function isWhiteSpace(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isSpace(text.charCodeAt(i))) return false;
  return true;
}

/**
 * Evaluates a template: to the value of its single expression, otherwise to a text. White space around a single
 * expression only counts when its value is a string (conformance section 20 C15).
 */
export function evaluateTemplate(template: PlannedTemplate, context: TemplateContext): RuntimeValue {
  const { parts, single } = template;
  if (!single) return concatenateParts(parts, context, (part) => evaluateInText(part, context));
  const { value } = evaluateExpression(single, context);
  if (parts.length === 1 || kindOf(value) !== "string") return value;
  const text = { text: unmark(value) as string, isMarked: value instanceof Sensitive };
  return concatenateParts(parts, context, () => text);
}

/** The text of a template, white space and all. */
export function evaluateTemplateText(template: PlannedTemplate, context: TemplateContext): RuntimeString {
  const { parts, single } = template;
  const lenient = single && context.isStrictMoa ? { ...context, isStrictMoa: false } : context;
  return concatenateParts(parts, context, (part) => evaluateInText(part, lenient));
}

function concatenateParts(
  parts: readonly (string | PlannedExpression)[],
  context: TemplateContext,
  textOf: (part: PlannedExpression) => MarkedText,
): RuntimeString {
  const texts = parts.map((part) => (typeof part === "string" ? part : textOf(part)));
  return concatenate(texts, context);
}

function evaluateInText(expression: PlannedExpression, context: TemplateContext): MarkedText {
  const { value, isDotted } = evaluateExpression(expression, context);
  try {
    if (!isDotted) return textInText(value, context);
    if (kindOf(value) === "null") return { text: "null", isMarked: value instanceof Sensitive };
    if (context.isStrictMoa) return textInText(value, context);
    return formatText(value, { budget: context.budget, isSorted: true });
  } catch (error) {
    throw placed(error, expression);
  }
}

function placed(error: unknown, { source, start, end }: PlannedExpression): unknown {
  return withPlace(error, () => ({ offset: start, length: end - start, expression: source.slice(start, end) }));
}

interface Evaluated {
  readonly value: RuntimeValue;
  readonly isDotted: boolean;
}

function evaluateExpression(expression: PlannedExpression, context: TemplateContext): Evaluated {
  const { plan, dotted } = expression;
  if (!plan) return evaluateDotted(expression, context);
  try {
    // Where two languages may be meant, a key that is not there tells that it is the other.
    return { value: plan(dotted ? { ...context, onUnknownKey: undefined } : context), isDotted: false };
  } catch (error) {
    if (!dotted || !isUnknown(error)) throw error;
    try {
      return evaluateDotted(expression, context);
    } catch (second) {
      throw second instanceof ExpressionError ? error : second;
    }
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof ExpressionError && (error.code === "UNKNOWN_NAME" || error.code === "UNKNOWN_KEY");
}

// A text that is no Moa and names no root is reported as broken Moa, not as a dotted name (conformance section 20 C4).
function evaluateDotted(expression: PlannedExpression, context: TemplateContext): Evaluated {
  const names = expression.dotted as readonly string[];
  let value: RuntimeValue;
  try {
    value = lookUpDotted(names, context);
  } catch (error) {
    const isRootUnknown = error instanceof ExpressionError && error.code === "UNKNOWN_NAME";
    throw isRootUnknown && expression.error ? expression.error : placed(error, expression);
  }
  context.onNote?.({
    code: "dotted-expression",
    message: `"${shorten(names.join("."))}" is an expression of the old dotted language: write ${shorten(formatDotted(names))}`,
  });
  return { value, isDotted: true };
}
