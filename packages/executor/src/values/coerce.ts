import { reveal, type RuntimeValue, Sensitive, sensitive, type Value, type ValueType } from "@steps/model";
import { formatNumber, typeOf } from "@steps/model/value";
import { importValue, parseJson } from "./json-value.ts";

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * The value as the declared type, or `undefined` when it is of another: numbers and booleans become strings, strings
 * become numbers and booleans that JSON reads (conformance section 2). Text that JSON reads as a list or an object
 * becomes one only where `allowJsonText` is set: for what a user typed on a command line. Marks are kept.
 */
export function coerce(
  value: RuntimeValue,
  type: ValueType,
  options: { readonly allowJsonText?: boolean } = {},
): RuntimeValue | undefined {
  if (value instanceof Sensitive) {
    const inner = coerce(value.value, type, options);
    return inner === undefined ? undefined : sensitive(inner);
  }
  if (shallowTypeOf(value) === type) return value;
  if (type === "string") {
    if (typeof value === "number") return formatNumber(value);
    return typeof value === "boolean" ? String(value) : undefined;
  }
  if (typeof value !== "string") return undefined;
  if (type === "boolean") return value === "true" ? true : value === "false" ? false : undefined;
  if (type === "number") {
    const number = JSON_NUMBER.test(value) ? Number(value) : Number.NaN;
    return Number.isFinite(number) ? number : undefined;
  }
  return options.allowJsonText === true ? fromJsonText(value, type) : undefined;
}

/** The kind of a value for a message: what `typeOf()` says once marks are off. */
export function kindOf(value: RuntimeValue): string {
  return typeOf(shallowReveal(value));
}

function shallowTypeOf(value: RuntimeValue): string {
  return typeOf(value as Value);
}

function shallowReveal(value: RuntimeValue): Value {
  return value instanceof Sensitive ? reveal(value) : (value as Value);
}

function fromJsonText(text: string, type: ValueType): Value | undefined {
  const parsed = parseJson(text);
  if (parsed === undefined) return undefined;
  const value = importValue(parsed.json);
  return value !== undefined && typeOf(value) === type ? value : undefined;
}
