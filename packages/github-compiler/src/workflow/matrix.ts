import { evaluateTemplate, toText } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";

/** The context `matrix` of one instance: a value for each key of the matrix. */
export type MatrixValues = Readonly<Record<string, Value>>;

/** The evaluated parts of a matrix. */
export interface Matrix {
  readonly vectors: readonly (readonly [string, readonly Value[]])[];
  readonly include: readonly MatrixValues[];
  readonly exclude: readonly MatrixValues[];
}

/** One job of a matrix. */
export interface MatrixInstance {
  readonly values: MatrixValues;
  /** The values that make up its name; values that `include` added to a combination are not among them. */
  readonly segments: readonly string[];
}

/**
 * The jobs of a matrix in GitHub's order: all combinations, the first key changing slowest, without those that match an
 * `exclude`; an `include` that matches combinations is added to them, one that matches none becomes a job of its own.
 */
export function* expandMatrix({ vectors, include, exclude }: Matrix): Generator<MatrixInstance> {
  const names = new Set(vectors.map(([name]) => name.toLowerCase()));
  const filters = include.map((item) => splitInclude(item, names));
  const isMatched = filters.map(() => false);
  for (const values of combine(vectors)) {
    if (exclude.some((filter) => matches(values, filter))) continue;
    const extra = createObject<Value>();
    for (const [index, { filter, rest }] of filters.entries()) {
      if (!matches(values, filter)) continue;
      isMatched[index] = true;
      Object.assign(extra, rest);
    }
    yield { values: Object.assign(createObject<Value>(), values, extra), segments: segmentsOf(values) };
  }
  for (const [index, { filter, rest }] of filters.entries()) {
    if (isMatched[index] === true) continue;
    const values = Object.assign(createObject<Value>(), filter, rest);
    yield { values, segments: segmentsOf(values) };
  }
}

/** How many combinations there are before any is left out. */
export function countCombinations(vectors: Matrix["vectors"]): number {
  return vectors.length === 0 ? 0 : vectors.reduce((product, [, values]) => product * values.length, 1);
}

function* combine(vectors: Matrix["vectors"]): Generator<MatrixValues> {
  const count = countCombinations(vectors);
  for (let index = 0; index < count; index++) {
    const values = createObject<Value>();
    let block = count;
    for (const [name, items] of vectors) {
      block /= items.length;
      values[name] = items[Math.floor(index / block) % items.length] as Value;
    }
    yield values;
  }
}

interface Include {
  /** The values that a combination must have to be chosen. */
  readonly filter: MatrixValues;
  /** The values that are added to it. */
  readonly rest: MatrixValues;
}

function splitInclude(item: MatrixValues, names: ReadonlySet<string>): Include {
  const filter = createObject<Value>();
  const rest = createObject<Value>();
  for (const [name, value] of Object.entries(item)) (names.has(name.toLowerCase()) ? filter : rest)[name] = value;
  return { filter, rest };
}

/** Whether every leaf of a filter equals what stands in its place, in the sense of `==`. */
function matches(value: Value, filter: Value): boolean {
  if (filter === null || typeof filter !== "object") return isEqual(value, filter);
  const keys: readonly (readonly [string | number, Value])[] = Array.isArray(filter)
    ? filter.map((item, index) => [index, item] as const)
    : Object.entries(filter);
  return keys.every(([key, part]) => matches(memberOf(value, key), part));
}

function memberOf(value: Value, key: string | number): Value {
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) return typeof key === "number" ? (value[key] ?? null) : null;
  if (Object.hasOwn(value, key)) return value[key] ?? null;
  const name = Object.keys(value).find((name) => name.toLowerCase() === String(key).toLowerCase());
  return name === undefined ? null : (value[name] ?? null);
}

function isEqual(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a === typeof b && (typeof a === "number" || typeof a === "boolean")) return false;
  const contexts = { matrix: { value: a }, inputs: { value: b } };
  return evaluateTemplate("${{ matrix.value == inputs.value }}", { contexts }) === true;
}

function segmentsOf(value: Value): readonly string[] {
  if (value !== null && typeof value === "object") return Object.values(value).flatMap(segmentsOf);
  const text = toText(value);
  return text === "" ? [] : [text];
}

const MAX_NAME_LENGTH = 100;

/** `test (ubuntu, 20)`, at most 100 characters. */
export function instanceName(name: string, segments: readonly string[]): string {
  const whole = segments.length === 0 ? name : `${name} (${segments.join(", ")})`;
  return whole.length > MAX_NAME_LENGTH ? `${whole.slice(0, MAX_NAME_LENGTH - 3)}...` : whole;
}
