import type { ValueType } from "@steps/model";
import { NAME_PATTERN } from "@steps/model/definition";
import { type DescribedTable, describeKeys, implies, type JsonSchema, type Key } from "@steps/source/keys";
import { ANY, FLAG, namedPorts, TEXT } from "./shapes.ts";

export const VALUE_TYPES: readonly ValueType[] = ["string", "number", "boolean", "struct", "array"];
export const TYPE_ALIASES: Readonly<Record<string, ValueType>> = { bool: "boolean", object: "struct", list: "array" };
/** Types of 2024 that only outputs had. */
export const OLD_OUTPUT_TYPES: readonly string[] = ["raw_string", "step_result"];

const JSON_TYPES: Readonly<Record<ValueType, string>> = {
  string: "string",
  number: "number",
  boolean: "boolean",
  struct: "object",
  array: "array",
};

/** The first document of a step file. */
export const DOCUMENT_KEYS: DescribedTable = describeKeys({
  what: "the spec document",
  keys: {
    spec: {
      about: "What the step takes and gives. Without a value: nothing.",
      shape: { anyOf: [{ type: "null" }, { $ref: "#/$defs/spec" }] },
    },
  },
  hints: {
    inputs: "Write it inside of spec:.",
    outputs: "Write it inside of spec:.",
    run: "The definition is the second document, after a line of ---.",
    exec: "The definition is the second document, after a line of ---.",
  },
});

/** The keys of `spec`. */
export const SPEC_KEYS: DescribedTable = describeKeys({
  what: "spec",
  keys: {
    inputs: {
      about: "What the step takes, by name. An input without a default is required.",
      shape: namedPorts("input"),
    },
    outputs: {
      about: "What the step gives, by name; or `delegate`, if the outputs are those of a step of its list.",
      shape: { anyOf: [{ const: "delegate" }, namedPorts("output")] },
    },
    secrets: {
      about: "What the step asks its caller for, by name. Nobody else sees it.",
      shape: namedPorts("secret"),
    },
    description: { about: "What the step is for.", shape: ANY },
  },
});

/** One secret of a spec. */
export const SECRET_KEYS: DescribedTable = describeKeys({
  what: "a secret",
  keys: {
    description: { about: "What the step needs it for.", shape: TEXT },
    permissions: {
      about: "What the secret has to allow, for whoever grants it: `[read_api, write_registry]`.",
      shape: { type: "array", items: TEXT },
    },
    as: {
      about:
        "How the process gets it: the value in a variable (`env`), or a variable with the path of a file (`file`).",
      shape: { enum: ["env", "file"] },
    },
    env: {
      about: "The name of that variable; without it the name of the secret in upper case.",
      shape: { type: "string", pattern: NAME_PATTERN.source },
    },
    required: { about: "`false`: the step does without it. By default `true`.", shape: FLAG },
  },
});

function typeKey(known: readonly string[]): Key {
  return {
    about: `One of ${VALUE_TYPES.map((type) => `\`${type}\``).join(", ")}; without it the type is \`string\`. Old names: ${known
      .filter((type) => !VALUE_TYPES.includes(type as ValueType))
      .map((type) => `\`${type}\``)
      .join(", ")}.`,
    shape: { enum: known },
  };
}

const INPUT_TYPES = [...VALUE_TYPES, ...Object.keys(TYPE_ALIASES)];
const SENSITIVE: Key = { about: "The value is secret: it is masked wherever it turns up.", shape: FLAG };
const DESCRIPTION: Key = { about: "What it is for.", shape: TEXT };

/** One input of a spec. */
export const INPUT_KEYS: DescribedTable = describeKeys({
  what: "an input",
  keys: {
    type: typeKey(INPUT_TYPES),
    default: {
      about:
        "The value when the caller gives none. `null` makes the input optional. It is literal: expressions are not expanded.",
      shape: ANY,
    },
    description: DESCRIPTION,
    options: { about: "The values that are allowed.", shape: { type: "array", minItems: 1 } },
    match: { about: "A regular expression (RE2, unanchored) that the string has to match.", shape: TEXT },
    regex: { about: "An older name of `match`.", shape: TEXT, isOld: true },
    sensitive: SENSITIVE,
    required: { about: "`false` makes the input optional, as `default: null` does.", shape: FLAG },
    additionalProperties: { about: "Has no effect.", shape: ANY, isOld: true },
  },
  atMostOne: [["match", "regex"]],
  rules: [
    ...typeRules({ hasOptions: true }),
    { not: { required: ["default", "required"], properties: { required: { const: true } } } },
    implies(
      { required: ["type"], properties: { type: { enum: INPUT_TYPES.filter((type) => type !== "string") } } },
      { properties: { match: { const: "" }, regex: { const: "" } } },
    ),
  ],
});

/** One output of a spec. */
export const OUTPUT_KEYS: DescribedTable = describeKeys({
  what: "an output",
  keys: {
    type: typeKey([...INPUT_TYPES, ...OLD_OUTPUT_TYPES]),
    default: { about: "The value when the step writes none. It is literal: expressions are not expanded.", shape: ANY },
    description: DESCRIPTION,
    sensitive: SENSITIVE,
  },
  rules: typeRules({ hasOptions: false }),
});

/** The rules for a default and options, by the type; without a type every scalar is a string as it stands. */
function typeRules({ hasOptions }: { readonly hasOptions: boolean }): readonly JsonSchema[] {
  const values = (value: JsonSchema, option: JsonSchema): JsonSchema => ({
    properties: { default: value, ...(hasOptions ? { options: { type: "array", items: option } } : {}) },
  });
  const scalar = { not: { type: ["array", "object"] } };
  const untyped = implies({ not: { required: ["type"] } }, values(scalar, scalar));
  const typed = VALUE_TYPES.map((type) => {
    const names = [type, ...Object.keys(TYPE_ALIASES).filter((alias) => TYPE_ALIASES[alias] === type)];
    const json = JSON_TYPES[type];
    return implies(
      { required: ["type"], properties: { type: { enum: names } } },
      values({ type: [json, "null"] }, { type: json }),
    );
  });
  return [untyped, ...typed];
}
