import { type RuntimeValue, Sensitive } from "@steps/model";
import { kindOf, mark, unmark } from "./compare.ts";
import { ExpressionError, hintNames, shorten } from "./error.ts";

/** Gives the value of a key that an object does not have, or `undefined` if that is an error. */
export type UnknownKeyReader = (object: object, key: string) => RuntimeValue | undefined;

/**
 * `base[key]` with the marks of the container and the key besides those of the element.
 *
 * @param options.path the source text of the base, for messages
 * @throws {ExpressionError} UNKNOWN_KEY, INVALID_KEY, INDEX_OUT_OF_RANGE, INVALID_INDEX, ACCESS_ON_NULL, TYPE_MISMATCH
 */
export function readMember(
  base: RuntimeValue,
  key: RuntimeValue,
  options: { readonly path: string; readonly onUnknownKey?: UnknownKeyReader | undefined },
): RuntimeValue {
  const isMarked = base instanceof Sensitive || key instanceof Sensitive;
  const container = unmark(base);
  const plainKey = unmark(key);
  const path = shorten(options.path);
  if (Array.isArray(container)) return mark(readItem(container, plainKey, { path, isMarked }), isMarked);
  const shown = typeof plainKey === "string" && !(key instanceof Sensitive) ? `"${shorten(plainKey)}"` : "the key";
  if (container === null) throw new ExpressionError("ACCESS_ON_NULL", `Cannot read ${shown}: "${path}" is null`);
  if (typeof container !== "object") {
    const message = `Cannot read ${shown}: "${path}" is a ${kindOf(container)}`;
    throw new ExpressionError("TYPE_MISMATCH", message);
  }
  if (typeof plainKey !== "string") {
    const message = `The key of an object must be a string: it is a value of kind ${kindOf(plainKey)}`;
    throw new ExpressionError("INVALID_KEY", message);
  }
  if (Object.hasOwn(container, plainKey)) return mark(container[plainKey] as RuntimeValue, isMarked);
  const other = key instanceof Sensitive ? undefined : options.onUnknownKey?.(container, plainKey);
  if (other !== undefined) return mark(other, isMarked);
  const hint = isMarked ? undefined : hintNames(plainKey, Object.keys(container), "keys");
  const unknown = key instanceof Sensitive ? "Unknown key" : `Unknown key ${shown}`;
  throw new ExpressionError("UNKNOWN_KEY", `${unknown} in "${path}"`, { hint });
}

function readItem(
  items: RuntimeValue[],
  index: RuntimeValue,
  options: { path: string; isMarked: boolean },
): RuntimeValue {
  const { path, isMarked } = options;
  if (typeof index !== "number") {
    throw new ExpressionError("INVALID_INDEX", `The index of array "${path}" must be a number: it is ${kindOf(index)}`);
  }
  if (!Number.isInteger(index)) {
    throw new ExpressionError("INVALID_INDEX", `The index of array "${path}" must be a whole number`);
  }
  if (index < 0 || index >= items.length) {
    const detail = isMarked ? "" : `: it has ${items.length} items, the index is ${index}`;
    throw new ExpressionError("INDEX_OUT_OF_RANGE", `The index is outside of array "${path}"${detail}`);
  }
  return items[index] as RuntimeValue;
}

/** Whether `base[key]` could be read; `false` for what has no members. */
export function hasMember(base: RuntimeValue, key: RuntimeValue): boolean {
  const container = unmark(base);
  const plainKey = unmark(key);
  if (Array.isArray(container)) {
    return Number.isInteger(plainKey) && (plainKey as number) >= 0 && (plainKey as number) < container.length;
  }
  if (typeof container !== "object" || container === null || typeof plainKey !== "string") return false;
  return Object.hasOwn(container, plainKey);
}
