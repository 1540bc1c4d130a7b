import type { RuntimeValue } from "@steps/model";
import { hasMember, readMember } from "./access.ts";
import { spend, spendNode } from "./budget.ts";
import { isTruthy, mark, unmark } from "./compare.ts";
import { ExpressionError } from "./error.ts";
import { argumentError, type CallContext, type FunctionTable, stringArgument } from "./function.ts";
import { parseJson } from "./json-text.ts";
import { finite, isEqual } from "./operators.ts";
import { createSearch } from "./search.ts";
import { formatText } from "./text.ts";
import { stringForm, textFunctions } from "./text-functions.ts";

/**
 * The functions of every expression. `str`, `num` and `bool` are Moa's; the others are extensions of ours.
 */
export const defaultFunctions: FunctionTable = {
  str: { minArgs: 1, maxArgs: 1, call: ([value], { budget }) => stringForm(value as RuntimeValue, budget) },
  num: { minArgs: 1, maxArgs: 1, call: toNumber },
  bool: { minArgs: 1, maxArgs: 1, call: ([value]) => isTruthy(value as RuntimeValue) },
  has: {
    minArgs: 2,
    maxArgs: 2,
    marks: "own",
    call: ([base, key]) => mark(hasMember(base as RuntimeValue, key as RuntimeValue), isEitherMarked(base, key)),
  },
  get: { minArgs: 2, maxArgs: 3, marks: "own", call: getMember },
  len: { minArgs: 1, maxArgs: 1, call: countItems },
  contains: { minArgs: 2, maxArgs: 2, call: contains },
  keys: { minArgs: 1, maxArgs: 1, call: (args, context) => Object.keys(objectArgument(args, context)) },
  values: {
    minArgs: 1,
    maxArgs: 1,
    marks: "own",
    call: (args, context) => mark(Object.values(objectArgument(args, context)), isEitherMarked(args[0])),
  },
  toJson: {
    minArgs: 1,
    maxArgs: 1,
    call: ([value], { budget }) => formatText(value as RuntimeValue, { budget, isJson: true }).text,
  },
  fromJson: { minArgs: 1, maxArgs: 1, call: (args, { budget }) => parseJson(stringArgument(args, 0), budget) },
  ...textFunctions,
};

function isEitherMarked(...values: (RuntimeValue | undefined)[]): boolean {
  return values.some((value) => value !== undefined && unmark(value) !== value);
}

const NUMERIC = /^[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function toNumber([argument]: readonly RuntimeValue[]): number {
  const value = unmark(argument as RuntimeValue);
  if (typeof value === "number") return value;
  if (typeof value !== "string") throw argumentError(value, 0, "a string");
  if (!NUMERIC.test(value)) throw new ExpressionError("INVALID_ARGUMENT", "The text is not a number");
  return finite(Number(value));
}

// The default is taken for null too, so that calls of get() can be nested.
function getMember(args: readonly RuntimeValue[]): RuntimeValue {
  const [base, key, fallback = null] = args as [RuntimeValue, RuntimeValue, RuntimeValue?];
  if (hasMember(base, key)) return readMember(base, key, { path: "get" });
  const container = unmark(base);
  if (typeof container !== "object") throw argumentError(container, 0, "an object or an array");
  return mark(fallback, isEitherMarked(base, key));
}

function countItems([argument]: readonly RuntimeValue[], { budget }: CallContext): number {
  const value = unmark(argument as RuntimeValue);
  if (Array.isArray(value)) return value.length;
  if (typeof value === "object" && value !== null) return Object.keys(value).length;
  if (typeof value !== "string") throw argumentError(value, 0, "a string, an array or an object");
  spend(budget, value.length);
  let count = 0;
  for (const character of value) {
    void character;
    count++;
  }
  return count;
}

function contains(args: readonly RuntimeValue[], { budget }: CallContext): boolean {
  const [container, wanted] = args as [RuntimeValue, RuntimeValue];
  const value = unmark(container);
  if (Array.isArray(value)) return value.some((item) => isEqual(item, wanted, budget));
  const part = stringArgument(args, 1);
  if (typeof value === "object" && value !== null) return Object.hasOwn(value, part);
  const text = stringArgument(args, 0);
  spend(budget, text.length + part.length);
  return part === "" || createSearch(text, part)(0) !== -1;
}

function objectArgument(args: readonly RuntimeValue[], { budget }: CallContext): { [key: string]: RuntimeValue } {
  const value = unmark(args[0] as RuntimeValue);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw argumentError(value, 0, "an object");
  for (const key in value) {
    void key;
    spendNode(budget, 0);
  }
  return value;
}
