import { createObject, type RuntimeValue, Sensitive } from "@steps/model";
import { readMember, type UnknownKeyReader } from "./access.ts";
import type { AccessNode, ArrayNode, BinaryNode, CallNode, LogicNode, Node, ObjectNode } from "./ast.ts";
import type { NameNode, TextNode, UnaryNode } from "./ast.ts";
import { type Budget, spendNode, spendText } from "./budget.ts";
import { hasMark, isTruthy, kindOf, mark, unmark } from "./compare.ts";
import { ExpressionError, hintNames, hintRoot, shorten, withPlace } from "./error.ts";
import type { ExpressionFunction, FunctionTable } from "./function.ts";
import { applyBinary, applyUnary } from "./operators.ts";
import type { Scope } from "./scope.ts";
import { formatText, type MarkedText } from "./text.ts";

/** The scope, the functions and the options with which a plan is carried out. */
export interface EvaluationContext {
  readonly scope: Scope;
  readonly functions: FunctionTable;
  readonly isStrictMoa: boolean;
  readonly onUnknownKey: UnknownKeyReader | undefined;
  readonly budget: Budget;
}

/** A syntax tree turned into a closure. */
export type Plan = (context: EvaluationContext) => RuntimeValue;

/** The template and the `${{ }}` that a node is from. */
export interface PlanOrigin {
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

/** Turns a syntax tree into a closure; the errors that it throws have their place. */
export function planNode(node: Node, origin: PlanOrigin): Plan {
  switch (node.kind) {
    case "literal": {
      const { value } = node;
      return () => value;
    }
    case "name":
      return placed(node, origin, planName(node));
    case "text":
      return placed(node, origin, planText(node, origin));
    case "array":
      return placed(node, origin, planArray(node, origin));
    case "object":
      return placed(node, origin, planObject(node, origin));
    case "access":
      return planAccess(node, origin);
    case "call":
      return placed(node, origin, planCall(node, origin));
    case "unary":
      return placed(node, origin, planUnary(node, origin));
    case "binary":
      return placed(node, origin, planBinary(node, origin));
    case "logic":
      return placed(node, origin, planLogic(node, origin));
  }
}

function placed(span: { start: number; end: number }, origin: PlanOrigin, plan: Plan): Plan {
  return (context) => {
    try {
      return plan(context);
    } catch (error) {
      throw withPlace(error, () => placeOf(span, origin));
    }
  };
}

function placeOf(span: { start: number; end: number }, origin: PlanOrigin) {
  const expression = origin.source.slice(origin.start, origin.end);
  return { offset: span.start, length: span.end - span.start, expression };
}

function planName({ name }: NameNode): Plan {
  return ({ scope, functions }) => {
    const value = scope.get(name);
    if (value !== undefined) return value;
    const hint = Object.hasOwn(functions, name)
      ? `"${name}" is a function: write ${name}(…).`
      : hintRoot(name, scope.names());
    throw new ExpressionError("UNKNOWN_NAME", `Unknown name "${shorten(name)}"`, { hint });
  };
}

function planText(node: TextNode, origin: PlanOrigin): Plan {
  const parts = node.parts.map((part) => (typeof part === "string" ? part : planNode(part, origin)));
  return (context) => {
    const texts = parts.map((part) => (typeof part === "string" ? part : textInText(part(context), context)));
    return concatenate(texts, context);
  };
}

/** Puts texts together; the whole is marked if any is. */
export function concatenate(texts: readonly (string | MarkedText)[], context: EvaluationContext): string | Sensitive {
  let isMarked = false;
  let result = "";
  for (const part of texts) {
    const text = typeof part === "string" ? part : part.text;
    if (typeof part !== "string" && part.isMarked) isMarked = true;
    spendText(context.budget, text.length, result.length + text.length);
    result += text;
  }
  return mark(result, isMarked);
}

/**
 * Turns a value into text that has other text around it (conformance section 20 C3). @throws {ExpressionError}
 * NULL_IN_TEXT, NOT_TEXT
 */
export function textInText(value: RuntimeValue, context: EvaluationContext): MarkedText {
  const kind = kindOf(value);
  if (kind === "null") {
    const hint = "Use get() with a default, or str().";
    throw new ExpressionError("NULL_IN_TEXT", "The expression is null and stands in a text", { hint });
  }
  if (context.isStrictMoa && kind !== "string") {
    const hint = "Wrap the expression in str().";
    throw new ExpressionError("NOT_TEXT", `The expression is of kind ${kind} and stands in a text`, { hint });
  }
  return formatText(value, { budget: context.budget });
}

function planArray(node: ArrayNode, origin: PlanOrigin): Plan {
  const items = node.items.map((item) => planNode(item, origin));
  return (context) => items.map((item) => item(context));
}

function planObject(node: ObjectNode, origin: PlanOrigin): Plan {
  const pairs = node.pairs.map(({ key, value }) => ({
    key: placed(key, origin, planKey(key, origin)),
    value: planNode(value, origin),
  }));
  return (context) => {
    let isMarked = false;
    const result = createObject<RuntimeValue>();
    for (const pair of pairs) {
      const key = pair.key(context);
      if (key instanceof Sensitive) isMarked = true;
      result[unmark(key) as string] = pair.value(context);
    }
    // A key cannot be marked by itself.
    return mark(result, isMarked);
  };
}

function planKey(node: Node, origin: PlanOrigin): Plan {
  const plan = planNode(node, origin);
  return (context) => {
    const key = plan(context);
    if (kindOf(key) === "string") return key;
    throw new ExpressionError("INVALID_KEY", `The key of an object must be a string: it is ${kindOf(key)}`);
  };
}

function planAccess(node: AccessNode, origin: PlanOrigin): Plan {
  const { source } = origin;
  const base = planNode(node.base, origin);
  const path = node.path.map((access) => {
    const { name } = access.kind === "field" ? access : { name: "" };
    const key: Plan = access.kind === "field" ? () => name : planNode(access.index, origin);
    const read = (value: RuntimeValue, context: EvaluationContext): RuntimeValue =>
      readMember(value, key(context), {
        path: source.slice(node.start, access.start),
        onUnknownKey: context.onUnknownKey,
      });
    return { access, read };
  });
  return (context) => {
    let value = base(context);
    for (const { access, read } of path) {
      try {
        value = read(value, context);
      } catch (error) {
        throw withPlace(error, () => placeOf(access, origin));
      }
    }
    return value;
  };
}

function planCall({ name, args }: CallNode, origin: PlanOrigin): Plan {
  const plans = args.map((arg) => planNode(arg, origin));
  return (context) => {
    const { functions } = context;
    const callee = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!callee) {
      const hint = hintNames(name, Object.keys(functions), "functions");
      throw new ExpressionError("UNKNOWN_FUNCTION", `Unknown function "${shorten(name)}"`, { hint });
    }
    const { minArgs, maxArgs } = callee;
    if (plans.length < minArgs || plans.length > maxArgs) {
      const wanted = minArgs === maxArgs ? `${minArgs}` : `${minArgs} to ${maxArgs}`;
      throw new ExpressionError("WRONG_ARITY", `Function "${name}" takes ${wanted} arguments, not ${plans.length}`);
    }
    const values = plans.map((plan) => plan(context));
    const isMarked = callee.marks !== "own" && values.some((value) => hasMark(value, context.budget));
    return mark(call(callee, values, { name, budget: context.budget }), isMarked);
  };
}

function call(
  callee: ExpressionFunction,
  values: readonly RuntimeValue[],
  context: { name: string; budget: Budget },
): RuntimeValue {
  spendNode(context.budget, 0);
  try {
    return callee.call(values, context);
  } catch (cause) {
    if (cause instanceof ExpressionError) throw cause;
    throw new ExpressionError("FUNCTION_FAILED", `Function "${context.name}" failed`, { cause });
  }
}

function planUnary({ operators, operand }: UnaryNode, origin: PlanOrigin): Plan {
  const plan = planNode(operand, origin);
  const applied = operators.toReversed();
  return (context) => {
    let value = plan(context);
    for (const operator of applied) value = applyUnary(operator, value, context.budget);
    return value;
  };
}

function planBinary(node: BinaryNode, origin: PlanOrigin): Plan {
  const first = planNode(node.first, origin);
  const rest = node.rest.map(({ operator, operand }) => ({ operator, plan: planNode(operand, origin) }));
  return (context) => {
    let value = first(context);
    for (const { operator, plan } of rest) {
      value = applyBinary(operator, [value, plan(context)], context.budget);
    }
    return value;
  };
}

// The result has the marks of the operand that is returned and of those that were tested to get there.
function planLogic({ operator, operands }: LogicNode, origin: PlanOrigin): Plan {
  const plans = operands.map((operand) => planNode(operand, origin));
  const isSought = operator === "||";
  return (context) => {
    let isMarked = false;
    let value: RuntimeValue = null;
    for (const [i, plan] of plans.entries()) {
      value = plan(context);
      if (i === plans.length - 1 || isTruthy(value) === isSought) break;
      isMarked ||= hasMark(value, context.budget);
    }
    return mark(value, isMarked);
  };
}
