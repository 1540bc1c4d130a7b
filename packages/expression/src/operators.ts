import type { RuntimeValue } from "@steps/model";
import type { BinaryOperator, UnaryOperator } from "./ast.ts";
import { type Budget, spendText } from "./budget.ts";
import { compareValues, hasMark, isTruthy, kindOf, mark, unmark } from "./compare.ts";
import { ExpressionError } from "./error.ts";

/** `a op b` with the marks of both. @throws {ExpressionError} TYPE_MISMATCH, DIVISION_BY_ZERO, NUMBER_NOT_FINITE */
export function applyBinary(
  operator: BinaryOperator,
  operands: readonly [RuntimeValue, RuntimeValue],
  budget: Budget,
): RuntimeValue {
  const [a, b] = operands;
  const isMarked = hasMark(a, budget) || hasMark(b, budget);
  return mark(plainBinary(operator, unmark(a), unmark(b), budget), isMarked);
}

function plainBinary(operator: BinaryOperator, a: RuntimeValue, b: RuntimeValue, budget: Budget): RuntimeValue {
  switch (operator) {
    case "==":
      return isEqual(a, b, budget);
    case "!=":
      return !isEqual(a, b, budget);
    case "<":
      return compareValues(a, b, budget) < 0;
    case "<=":
      return compareValues(a, b, budget) <= 0;
    case ">":
      return compareValues(a, b, budget) > 0;
    case ">=":
      return compareValues(a, b, budget) >= 0;
    case "+":
      if (typeof a === "string" && typeof b === "string") return concatenate(a, b, budget);
      return calculate(operator, a, b);
    default:
      return calculate(operator, a, b);
  }
}

/** Deep equality; values of different kinds are never equal. */
export function isEqual(a: RuntimeValue, b: RuntimeValue, budget: Budget): boolean {
  return compareValues(a, b, budget) === 0;
}

// The left side was paid for when it was made, else a long chain would cost the square of its length.
function concatenate(a: string, b: string, budget: Budget): string {
  spendText(budget, b.length, a.length + b.length);
  return a + b;
}

type Arithmetic = "+" | "-" | "*" | "/" | "%";

function calculate(operator: Arithmetic, a: RuntimeValue, b: RuntimeValue): number {
  if (typeof a !== "number" || typeof b !== "number") {
    const kinds = `${kindOf(a)} and ${kindOf(b)}`;
    const hint =
      operator === "+" && (typeof a === "string" || typeof b === "string")
        ? "Wrap the other side in str(), or write the expression inside the text."
        : undefined;
    throw new ExpressionError("TYPE_MISMATCH", `Cannot apply "${operator}" to ${kinds}`, { hint });
  }
  if (b === 0 && (operator === "/" || operator === "%")) {
    throw new ExpressionError("DIVISION_BY_ZERO", `Cannot apply "${operator}": the right side is zero`);
  }
  return finite(arithmetic[operator](a, b));
}

const arithmetic: Readonly<Record<Arithmetic, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};

/** The number, if it is one. @throws {ExpressionError} NUMBER_NOT_FINITE */
export function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new ExpressionError("NUMBER_NOT_FINITE", "The result is no finite number");
}

/** `op a` with the marks of the operand. @throws {ExpressionError} TYPE_MISMATCH */
export function applyUnary(operator: UnaryOperator, operand: RuntimeValue, budget: Budget): RuntimeValue {
  const isMarked = hasMark(operand, budget);
  if (operator === "!") return mark(!isTruthy(operand), isMarked);
  const value = unmark(operand);
  if (typeof value !== "number") {
    throw new ExpressionError("TYPE_MISMATCH", `Cannot apply unary "${operator}" to ${kindOf(value)}`);
  }
  return mark(operator === "-" ? -value : value, isMarked);
}
