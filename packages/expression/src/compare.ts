import { type RuntimeValue, Sensitive } from "@steps/model";
import { type Budget, spend, spendNode } from "./budget.ts";

export type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";

/** The kind of a value, whether it is marked or not. */
export function kindOf(value: RuntimeValue): Kind {
  const plain = unmark(value);
  if (plain === null) return "null";
  if (Array.isArray(plain)) return "array";
  return typeof plain as Kind;
}

/** The value without its own mark; its parts keep theirs. */
export function unmark(value: RuntimeValue): Exclude<RuntimeValue, Sensitive> {
  return (value instanceof Sensitive ? value.value : value) as Exclude<RuntimeValue, Sensitive>;
}

/** Marks a value if told to. */
export function mark<T extends RuntimeValue>(value: T, isMarked: boolean): T | Sensitive {
  return isMarked && !(value instanceof Sensitive) ? new Sensitive(value) : value;
}

/** Whether the value or any part of it is marked. @throws {ExpressionError} VALUE_TOO_DEEP, TOO_MUCH_EFFORT */
export function hasMark(value: RuntimeValue, budget: Budget, depth = 0): boolean {
  if (value instanceof Sensitive) return true;
  if (typeof value !== "object" || value === null) return false;
  spendNode(budget, depth);
  if (Array.isArray(value)) return value.some((item) => hasMark(item, budget, depth + 1));
  for (const key of Object.keys(value)) if (hasMark(value[key] as RuntimeValue, budget, depth + 1)) return true;
  return false;
}

/** False are `false`, `""`, `0`, `[]`, `{}` and `null`. */
export function isTruthy(value: RuntimeValue): boolean {
  const plain = unmark(value);
  if (Array.isArray(plain)) return plain.length > 0;
  if (typeof plain === "object" && plain !== null) return Object.keys(plain).length > 0;
  return Boolean(plain);
}

/** Order by code points, which is the order of the UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    // A surrogate stands for a code point above all those of one unit.
    if (x !== y) return x + (x >= 0xd800 && x < 0xe000 ? 0x10000 : 0) - y - (y >= 0xd800 && y < 0xe000 ? 0x10000 : 0);
  }
  return a.length - b.length;
}

const KIND_ORDER: readonly Kind[] = ["null", "boolean", "number", "string", "array", "object"];

/**
 * The order of two values: below zero, zero, above zero. Different kinds go null, boolean, number, string, array,
 * object (conformance section 20 C27); arrays element by element; objects by size, then keys, then values.
 *
 * @throws {ExpressionError} VALUE_TOO_DEEP, TOO_MUCH_EFFORT
 */
export function compareValues(a: RuntimeValue, b: RuntimeValue, budget: Budget, depth = 0): number {
  spendNode(budget, depth);
  const x = unmark(a);
  const y = unmark(b);
  const kind = kindOf(x);
  if (kind !== kindOf(y)) return KIND_ORDER.indexOf(kind) - KIND_ORDER.indexOf(kindOf(y));
  switch (kind) {
    case "null":
      return 0;
    case "boolean":
    case "number":
      return Number(x) < Number(y) ? -1 : Number(x) > Number(y) ? 1 : 0;
    case "string":
      spend(budget, Math.min((x as string).length, (y as string).length));
      return compareText(x as string, y as string);
    case "array":
      return compareArrays(x as RuntimeValue[], y as RuntimeValue[], budget, depth);
    case "object":
      return compareObjects(x as RuntimeObject, y as RuntimeObject, budget, depth);
  }
}

type RuntimeObject = { [key: string]: RuntimeValue };

function compareArrays(a: RuntimeValue[], b: RuntimeValue[], budget: Budget, depth: number): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareValues(a[i] as RuntimeValue, b[i] as RuntimeValue, budget, depth + 1);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareObjects(a: RuntimeObject, b: RuntimeObject, budget: Budget, depth: number): number {
  const keys = Object.keys(a).toSorted(compareText);
  const others = Object.keys(b).toSorted(compareText);
  if (keys.length !== others.length) return keys.length - others.length;
  for (let i = 0; i < keys.length; i++) {
    const order = compareText(keys[i] as string, others[i] as string);
    if (order !== 0) return order;
  }
  for (const key of keys) {
    const order = compareValues(a[key] as RuntimeValue, b[key] as RuntimeValue, budget, depth + 1);
    if (order !== 0) return order;
  }
  return 0;
}
