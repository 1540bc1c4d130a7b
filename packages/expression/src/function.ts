import type { RuntimeValue } from "@steps/model";
import type { Budget } from "./budget.ts";
import { kindOf, unmark } from "./compare.ts";
import { ExpressionError } from "./error.ts";

/** The name of the call and the budget that a function may use besides its arguments. */
export interface CallContext {
  readonly name: string;
  readonly budget: Budget;
}

/**
 * A function that expressions may call. It must be quick; an error of its own becomes FUNCTION_FAILED.
 */
export interface ExpressionFunction {
  readonly minArgs: number;
  readonly maxArgs: number;
  /**
   * `union` (default): the result is marked if any part of any argument is, and the function need not look at marks.
   * `own`: the function marks its result itself.
   */
  readonly marks?: "union" | "own";
  readonly call: (args: readonly RuntimeValue[], context: CallContext) => RuntimeValue;
}

/** Functions by name. */
export type FunctionTable = Readonly<Record<string, ExpressionFunction>>;

/** An argument that must be a string. @throws {ExpressionError} TYPE_MISMATCH */
export function stringArgument(args: readonly RuntimeValue[], index: number): string {
  const value = unmark(args[index] as RuntimeValue);
  if (typeof value === "string") return value;
  throw argumentError(value, index, "a string");
}

/** The error for an argument of the wrong kind. */
export function argumentError(value: RuntimeValue, index: number, wanted: string): ExpressionError {
  const message = `Argument ${index + 1} must be ${wanted}: it is a value of kind ${kindOf(value)}`;
  return new ExpressionError("TYPE_MISMATCH", message);
}
