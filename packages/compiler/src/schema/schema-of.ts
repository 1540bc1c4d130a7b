import { type DescribedTable, type JsonSchema, type JsonSchemaValue, type Key, OWN_KEY } from "@steps/source/keys";
import { LONG_FORMS, REFERENCE_KEYS } from "../reference/long/long-forms.ts";
import { RETRY_KEYS } from "../keys/control-keys.ts";
import { DEFINITION_KEYS, EXEC_KEYS } from "../keys/definition-keys.ts";
import { INLINE_KEYS, SCRIPT_INPUTS } from "../keys/invocation-keys.ts";
import { ref } from "../keys/shapes.ts";
import { DOCUMENT_KEYS, INPUT_KEYS, OUTPUT_KEYS, SECRET_KEYS, SPEC_KEYS } from "../keys/spec-keys.ts";

/**
 * The subject of a schema: the two documents of a step file (`spec`, `definition`), either of them for editors that
 * look at each document of a file by itself (`step`), or a list of steps, as `STEPS` and the `run:` of a job hold it
 * (`run`).
 */
export type SchemaKind = "spec" | "definition" | "step" | "run";

/** The kinds of all schemas that `schemaOf()` gives, in the order of the documentation. */
export const SCHEMA_KINDS: readonly SchemaKind[] = ["spec", "definition", "step", "run"];

/** Every part that another may name. */
const PARTS: Readonly<Record<string, JsonSchema>> = {
  document: tableSchema(DOCUMENT_KEYS),
  spec: tableSchema(SPEC_KEYS),
  input: tableSchema(INPUT_KEYS),
  output: tableSchema(OUTPUT_KEYS),
  secret: tableSchema(SECRET_KEYS),
  definition: tableSchema(DEFINITION_KEYS),
  exec: tableSchema(EXEC_KEYS),
  items: { type: "array", items: ref("item") },
  item: tableSchema(INLINE_KEYS),
  scriptInputs: { anyOf: [{ type: "null" }, tableSchema(SCRIPT_INPUTS)] },
  retry: tableSchema(RETRY_KEYS),
  reference: { anyOf: [{ type: "string", pattern: "\\S" }, tableSchema(REFERENCE_KEYS)] },
  ...Object.fromEntries(Object.entries(LONG_FORMS).map(([kind, { keys }]) => [kind, tableSchema(keys)])),
};

const ROOTS: Readonly<Record<SchemaKind, { readonly title: string; readonly root: JsonSchema }>> = {
  spec: { title: "The spec of a step: the first document of a step file", root: ref("document") },
  definition: { title: "The definition of a step: the second document of a step file", root: ref("definition") },
  step: {
    title: "A document of a step file: its spec, or its definition",
    root: { oneOf: [ref("document"), ref("definition")] },
  },
  run: { title: "A list of steps, as STEPS and the run: of a job hold it", root: ref("items") },
};

/**
 * The JSON Schema (draft 2020-12) of a kind of document, made from the tables that the compiler reads documents with. It
 * refuses no document that the compiler accepts; what only a compiler can tell (an expression, a name that is used
 * twice, a default that is none of the options) it does not see.
 */
export function schemaOf(kind: SchemaKind): JsonSchema {
  const { title, root } = ROOTS[kind];
  const used = new Set<string>();
  collect(root, used);
  const parts = Object.keys(PARTS).filter((name) => used.has(name));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:steps:schema:${kind}`,
    title,
    ...root,
    $defs: Object.fromEntries(parts.map((name) => [name, PARTS[name] as JsonSchema])),
  };
}

function collect(value: JsonSchemaValue | undefined, used: Set<string>): void {
  if (value === null || typeof value !== "object") return;
  for (const [keyword, member] of Object.entries(value)) {
    if (keyword !== "$ref" || typeof member !== "string") {
      collect(member, used);
      continue;
    }
    const name = member.slice("#/$defs/".length);
    if (used.has(name)) continue;
    used.add(name);
    collect(PARTS[name], used);
  }
}

function tableSchema(table: DescribedTable): JsonSchema {
  const rules = [
    ...(table.oneOf === undefined ? [] : [{ oneOf: table.oneOf.map((key) => ({ required: [key] })) }]),
    ...(table.atMostOne ?? []).flatMap(notTogether),
    ...(table.rules ?? []),
  ];
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(table.keys).map(([name, key]) => [name, keySchema(key)])),
    patternProperties: { [OWN_KEY.source]: true },
    additionalProperties: false,
    ...(table.required === undefined ? {} : { required: table.required }),
    ...(rules.length === 0 ? {} : { allOf: rules }),
  };
}

function keySchema({ about, shape, isOld }: Key): JsonSchema {
  return { description: about, ...(isOld === true ? { deprecated: true } : {}), ...shape };
}

function notTogether(keys: readonly string[]): JsonSchema[] {
  return keys.flatMap((key, i) => keys.slice(i + 1).map((other) => ({ not: { required: [key, other] } })));
}
