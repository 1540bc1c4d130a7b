import { RunnerApiError } from "../runner-api-error.ts";

/** The value's place in its message (`variables[3].key`), and the direction in which the message goes. */
export interface Place {
  readonly path: string;
  /** Strictly read is what we write ourselves: an unknown key is an error there, and is left out of what others send. */
  readonly isStrict: boolean;
}

/** Gives the value if it has the type. @throws {RunnerApiError} MESSAGE_INVALID */
export type Shape<T> = (value: unknown, place: Place) => T;

/** The longest text in a message, in UTF-16 units: values of variables may be files. */
const MAX_TEXT = 16 * 1024 * 1024;
const MAX_ITEMS = 50_000;
const MAX_DEPTH = 64;

/** A text, not too long. */
export function text(value: unknown, place: Place): string {
  if (typeof value !== "string") throw wrong(place, value, "a string");
  if (value.length > MAX_TEXT) throw new RunnerApiError("MESSAGE_TOO_LARGE", `${place.path}: the text is too long`);
  return value;
}

/** True or false. */
export function flag(value: unknown, place: Place): boolean {
  if (typeof value !== "boolean") throw wrong(place, value, "true or false");
  return value;
}

/** A whole number that a double holds exactly. */
export function integer(value: unknown, place: Place): number {
  if (!Number.isSafeInteger(value)) throw wrong(place, value, "a whole number");
  return value as number;
}

/** A whole number, 0 or above. */
export function count(value: unknown, place: Place): number {
  const number = integer(value, place);
  if (number < 0) throw wrong(place, value, "0 or a larger number");
  return number;
}

/** Any number but infinity and what is none. */
export function number(value: unknown, place: Place): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw wrong(place, value, "a number");
  return value;
}

/** Any JSON, but not nested without end. */
export function anything(value: unknown, place: Place): unknown {
  checkDepth(value, place, 0);
  return value;
}

/** One of these words; a reader takes any other word too, because servers learn new ones. */
export function word<const W extends string>(...words: readonly W[]): Shape<W | (string & {})> {
  return (value, place) => {
    const given = text(value, place);
    if (place.isStrict && !words.includes(given as W)) throw wrong(place, value, `one of ${words.join(", ")}`);
    return given;
  };
}

/** Absent and null are the same, `undefined`: it is never written. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, place) => (value === undefined || value === null ? undefined : shape(value, place));
}

/** Absent and null are the same, `null`: it is always written. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, place) => (value === undefined || value === null ? null : shape(value, place));
}

/** Absent and null are `fallback`, the zero value that Go would give it. */
export function defaulted<T>(shape: Shape<T>, fallback: T): Shape<T> {
  return (value, place) => (value === undefined || value === null ? fallback : shape(value, place));
}

/** Absent and null are the empty list. */
export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value, place) => {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw wrong(place, value, "a list");
    if (value.length > MAX_ITEMS) throw new RunnerApiError("MESSAGE_TOO_LARGE", `${place.path}: too many items`);
    return value.map((item: unknown, index) => shape(item, { ...place, path: `${place.path}[${index}]` }));
  };
}

/** An object whose keys are names: absent and null are the empty one. */
export function table<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, place) => {
    if (value === undefined || value === null) return {};
    const entries = Object.entries(objectAt(value, place));
    if (entries.length > MAX_ITEMS) throw new RunnerApiError("MESSAGE_TOO_LARGE", `${place.path}: too many keys`);
    return Object.fromEntries(entries.map(([key, item]) => [key, shape(item, below(place, key))]));
  };
}

/** An object with these keys. */
export function record<T extends object>(shapes: { readonly [K in keyof T]-?: Shape<T[K]> }): Shape<T> {
  const keys = Object.keys(shapes) as (keyof T & string)[];
  return (value, place) => {
    const object = objectAt(value, place);
    if (place.isStrict) refuseOthers(object, keys, place);
    const entries = keys.map((key) => [key, shapes[key](object[key], below(place, key))] as const);
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined)) as T;
  };
}

function refuseOthers(object: Readonly<Record<string, unknown>>, keys: readonly string[], place: Place): void {
  const unknown = Object.keys(object).find((key) => object[key] !== undefined && !keys.includes(key));
  if (unknown !== undefined) {
    throw new RunnerApiError("MESSAGE_INVALID", `${below(place, unknown).path}: the API has no such key`);
  }
}

function objectAt(value: unknown, place: Place): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(place, value, "an object");
  return value as Readonly<Record<string, unknown>>;
}

function below(place: Place, key: string): Place {
  return { ...place, path: place.path === "" ? key : `${place.path}.${key}` };
}

function checkDepth(value: unknown, place: Place, depth: number): void {
  if (depth > MAX_DEPTH) throw new RunnerApiError("MESSAGE_INVALID", `${place.path}: nested too deeply`);
  if (typeof value !== "object" || value === null) return;
  for (const item of Object.values(value)) checkDepth(item, place, depth + 1);
}

function wrong({ path }: Place, value: unknown, expected: string): RunnerApiError {
  const where = path === "" ? "The message" : path;
  if (value === undefined) return new RunnerApiError("MESSAGE_INVALID", `${where}: missing; it must be ${expected}`);
  return new RunnerApiError("MESSAGE_INVALID", `${where}: must be ${expected}, not ${nameOf(value)}`);
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
