import { NAME_PATTERN } from "@steps/model/definition";
import type { JsonSchema } from "@steps/source/keys";
import { DURATION_PATTERN, MAX_DURATION_MS } from "../texts/read-duration.ts";

/** Anything at all. */
export const ANY: JsonSchema = {};
export const STRING: JsonSchema = { type: "string" };
export const FLAG: JsonSchema = { type: "boolean" };
/** A scalar that is taken as the text in which it was written. */
export const TEXT: JsonSchema = { type: ["string", "number", "boolean"] };
/** A text of more than blanks. */
export const SOME_TEXT: JsonSchema = { ...TEXT, pattern: "\\S" };

/** A time: `30s`, `1h30m`, or a number of seconds. */
export const DURATION: JsonSchema = {
  anyOf: [
    { type: "number", exclusiveMinimum: 0, maximum: MAX_DURATION_MS / 1000 },
    { type: "string", pattern: DURATION_PATTERN.source },
  ],
};

/** A text that holds an expression, whose value is not known yet. */
export const EXPRESSION: JsonSchema = { type: "string", pattern: "\\$\\{\\{" };

const NAME: JsonSchema = { pattern: NAME_PATTERN.source };
const NAME_OR_EXPRESSION: JsonSchema = { anyOf: [NAME, EXPRESSION] };

/** Variables: `null` is none. */
export const ENV: JsonSchema = {
  type: ["object", "null"],
  propertyNames: NAME_OR_EXPRESSION,
  additionalProperties: TEXT,
};

/** Values for inputs, by name; `null` is none. */
export const INPUT_VALUES: JsonSchema = { type: ["object", "null"], propertyNames: NAME_OR_EXPRESSION };

/** Values of outputs, by name; `null` is none. */
export const OUTPUT_VALUES: JsonSchema = { type: ["object", "null"], propertyNames: NAME };

/** Mappings of names to what `$defs` has under this name, `null` standing for an empty one. */
export function namedPorts(definition: string): JsonSchema {
  return {
    type: ["object", "null"],
    propertyNames: NAME,
    additionalProperties: { anyOf: [{ type: "null" }, ref(definition)] },
  };
}

/** A part that is described once, in `$defs`. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/$defs/${name}` };
}
