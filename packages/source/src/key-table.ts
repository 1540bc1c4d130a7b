import { nearest } from "@steps/model/diagnostic";

/** A JSON Schema, or a part of one, of draft 2020-12. */
export type JsonSchema = { readonly [keyword: string]: JsonSchemaValue };
/** A value within a JSON Schema. */
export type JsonSchemaValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonSchemaValue[]
  | { readonly [member: string]: JsonSchemaValue };

/** The keys of one kind of mapping. */
export interface KeyTable {
  /** For messages: `a definition`. */
  readonly what: string;
  readonly known: readonly string[];
  /** Keys of the language that a later release brings. */
  readonly later?: readonly string[];
  /** Advice for keys that belong elsewhere, by key. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** One key: what an editor says of it, and what it takes. */
export interface Key {
  /** A sentence or two, Markdown. */
  readonly about: string;
  /** The shape of the value, as far as a schema can describe it. */
  readonly shape: JsonSchema;
  /** An old spelling: it is read, but nobody should write it. */
  readonly isOld?: boolean;
}

/** A table that knows what its keys take: the one source of what the compiler checks and the schemas say. */
export interface DescribedTable extends KeyTable {
  readonly keys: Readonly<Record<string, Key>>;
  readonly required?: readonly string[];
  /** Keys of which there is exactly one. */
  readonly oneOf?: readonly string[];
  /** Spellings of the same thing: at most one of each. */
  readonly atMostOne?: readonly (readonly string[])[];
  /** Further rules. */
  readonly rules?: readonly JsonSchema[];
}

/** A table whose known keys are those it describes. */
export function describeKeys(table: Omit<DescribedTable, "known">): DescribedTable {
  return { ...table, known: Object.keys(table.keys) };
}

/** A part of a mapping's schema that forbids keys. */
export function without(keys: readonly string[]): JsonSchema {
  return Object.fromEntries(keys.map((key) => [key, false]));
}

/** Keys that are the author's own, wherever they stand. */
export const OWN_KEY: RegExp = /^(?:x-|\.)/;

/** Returns the advice for an unknown key: that of the table, the nearest known key, or all of them. */
export function unknownKeyHint(name: string, { known, hints }: Pick<KeyTable, "known" | "hints">): string | undefined {
  if (hints !== undefined && Object.hasOwn(hints, name)) return hints[name];
  const near = nearest(name, known);
  return near === undefined ? `Known keys: ${known.join(", ")}.` : `Did you mean "${near}"?`;
}

/** More unknown keys than a person writes are not looked at for a misspelling. */
const MAX_COMPARED = 50;

/**
 * Whether an unknown key of a mapping is advised to be one of those that are missing, so that one report says both.
 *
 * @param given the keys of the mapping
 * @param missing the known keys of which there is none
 */
export function isMisspelt(
  given: Iterable<string>,
  missing: readonly string[],
  { known, hints = {} }: Pick<KeyTable, "known" | "hints">,
): boolean {
  const unknown = [...given].filter(
    (name) => !known.includes(name) && !OWN_KEY.test(name) && !Object.hasOwn(hints, name),
  );
  return unknown.slice(0, MAX_COMPARED).some((name) => missing.includes(nearest(name, known) ?? ""));
}

/** Makes a rule of what holds if a condition holds, and of what holds if it does not. */
export function implies(condition: JsonSchema, consequence: JsonSchema, otherwise?: JsonSchema): JsonSchema {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, in an object that nobody awaits
  return { if: condition, then: consequence, ...(otherwise === undefined ? {} : { else: otherwise }) };
}
