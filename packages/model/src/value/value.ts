/** A JSON value: what inputs, outputs and job variables are made of. Objects made by us have no prototype. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

/** A value while it is computed with: any part of it may be marked sensitive. */
export type RuntimeValue =
  | null
  | boolean
  | number
  | string
  | Sensitive
  | RuntimeValue[]
  | { [key: string]: RuntimeValue };

/** A string that may be marked sensitive: what an environment holds. */
export type RuntimeString = string | Sensitive;

/** The kinds of value that inputs and outputs are declared with. */
export type ValueType = "string" | "number" | "boolean" | "struct" | "array";

/**
 * A value that must not be shown. It prints as `[MASKED]` wherever it is turned into text by accident;
 * `reveal()` is the one way to what it holds.
 */
export class Sensitive {
  readonly #value: RuntimeValue;

  constructor(value: RuntimeValue) {
    this.#value = value instanceof Sensitive ? value.#value : value;
  }

  /** The value itself, one level: parts of it may be marked again. */
  get value(): RuntimeValue {
    return this.#value;
  }

  toString(): string {
    return "[MASKED]";
  }

  toJSON(): string {
    return "[MASKED]";
  }

  static {
    // `console.log` and `util.inspect` can be told to call getters.
    const inspect = Symbol.for("nodejs.util.inspect.custom");
    Object.defineProperty(Sensitive.prototype, inspect, { value: () => "[MASKED]" });
  }
}

/** Marks a value, unless it is marked already. */
export function sensitive(value: RuntimeValue): Sensitive {
  return value instanceof Sensitive ? value : new Sensitive(value);
}

/** Takes every mark off, at any depth. Objects of the result have no prototype. */
export function reveal(value: RuntimeValue): Value {
  if (value instanceof Sensitive) return reveal(value.value);
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value === "object" && value !== null) return mapObject(value, reveal);
  return value;
}

/** `reveal()` for a string. */
export function revealString(value: RuntimeString): string {
  return value instanceof Sensitive ? formatValue(reveal(value)) : value;
}

/** Whether the value or any part of it is marked. */
export function isSensitive(value: RuntimeValue): boolean {
  if (value instanceof Sensitive) return true;
  if (Array.isArray(value)) return value.some(isSensitive);
  if (typeof value === "object" && value !== null) return Object.values(value).some(isSensitive);
  return false;
}

/** Every string, and the text of every number, inside the marked parts of a value: what masking has to look for. */
export function* secretTexts(value: RuntimeValue, marked = false): Generator<string> {
  if (value instanceof Sensitive) yield* secretTexts(value.value, true);
  else if (Array.isArray(value)) for (const item of value) yield* secretTexts(item, marked);
  else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) yield* secretTexts(item, marked);
  } else if (marked && typeof value === "string") yield value;
  else if (marked && typeof value === "number") yield formatNumber(value);
}

/** The declared type that a value is of; `null` is of none. */
export function typeOf(value: Value): ValueType | "null" {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "object" ? "struct" : (type as "string" | "number" | "boolean");
}

/** JSON's text of a number, `-0` as `0`. */
export function formatNumber(value: number): string {
  return Object.is(value, -0) ? "0" : JSON.stringify(value);
}

/**
 * The text of a value: a string as it is, numbers and booleans as JSON, arrays and objects as compact JSON in
 * insertion order (conformance section 20 C35).
 */
export function formatValue(value: Value): string {
  if (typeof value === "string") return value;
  return typeof value === "number" ? formatNumber(value) : JSON.stringify(value);
}

/** An object without a prototype, so that `__proto__` is a key like any other. */
export function createObject<T>(entries?: Iterable<readonly [string, T]>): Record<string, T> {
  const object = Object.create(null) as Record<string, T>;
  if (entries === undefined) return object;
  for (const [key, value] of entries) object[key] = value;
  return object;
}

/** Applies a function to each value of an object. The result has no prototype. */
export function mapObject<A, B>(
  object: Readonly<Record<string, A>>,
  map: (value: A, key: string) => B,
): Record<string, B> {
  const result = Object.create(null) as Record<string, B>;
  for (const key of Object.keys(object)) result[key] = map(object[key] as A, key);
  return result;
}

/** Deep equality of JSON values; the order of keys does not matter. */
export function equalValues(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => equalValues(item, b[i] as Value))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equalValues(a[key] as Value, b[key] as Value))
  );
}
