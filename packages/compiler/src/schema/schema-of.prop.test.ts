import type { JsonSchema } from "@steps/source/keys";
import { readYaml } from "@steps/source";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { compileRunNode, compileStepFile } from "../compile.ts";
import { SCHEMA_KINDS, schemaOf } from "./schema-of.ts";
import * as fc from "fast-check";

const ajv = new Ajv2020({ allowUnionTypes: true });

const stray = fc.constantFrom<unknown>(
  null, true, false, 0, 1, 2.5, -1, "", " ", "a", "a-b", "1", "30s", "0s", "exec", "steps", "string", "bool", "step_result", "delegate", "always",
  "./x", "${{ inputs.a }}", "${{", [], ["a"], [1, null], [[]], {}, { a: 1 }, { a: null }, { "a-b": "x" }, { "${{ x }}": "y" }, { "x-y": [] },
  { type: "string", default: 1 }, { type: "number", options: [1, "2"] }, { options: [] }, { max: 1 }, { max: 101 }, { git: {} },
); // prettier-ignore

/** Documents that look like what a schema is of, more or less. */
function near(schema: JsonSchema, root: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const target = schema["$ref"] as string | undefined;
  if (target !== undefined) {
    const parts = root["$defs"] as Readonly<Record<string, JsonSchema>>;
    return near(parts[target.slice("#/$defs/".length)] as JsonSchema, root, depth);
  }
  if (depth === 0) return stray;
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  const inner = choices ?? [];
  const own =
    schema["properties"] !== undefined
      ? nearMapping(schema["properties"] as Readonly<Record<string, JsonSchema>>, root, depth)
      : schema["items"] !== undefined
        ? fc.array(near(schema["items"] as JsonSchema, root, depth - 1), { maxLength: 3 })
        : schema["additionalProperties"] !== undefined
          ? fc.dictionary(
              fc.constantFrom("a", "b", "a-b"),
              near(schema["additionalProperties"] as JsonSchema, root, depth - 1),
            )
          : schema["enum"] !== undefined
            ? fc.constantFrom(...(schema["enum"] as readonly unknown[]))
            : stray;
  return fc.oneof(
    { weight: 6, arbitrary: inner.length > 0 ? fc.oneof(...inner.map((one) => near(one, root, depth))) : own },
    { weight: 1, arbitrary: stray },
  );
}

function nearMapping(
  properties: Readonly<Record<string, JsonSchema>>,
  root: JsonSchema,
  depth: number,
): fc.Arbitrary<unknown> {
  const entries = Object.entries(properties).map(([name, shape]) =>
    near(shape, root, depth - 1).map((value) => [name, value] as const),
  );
  const strays = fc.tuple(fc.constantFrom("x-own", ".own", "other"), stray);
  return fc
    .array(fc.oneof({ weight: 20, arbitrary: fc.oneof(...entries) }, { weight: 1, arbitrary: strays }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((pairs) => Object.fromEntries(pairs));
}

function isRefusedAs(kind: "spec" | "definition" | "run", value: unknown): boolean {
  const text = JSON.stringify(value);
  if (kind === "run") {
    const [node] = readYaml({ name: "x", text }).documents;
    return node === undefined || compileRunNode(node).specDefinition === undefined;
  }
  const other = kind === "spec" ? "exec: {command: [x]}" : "{}";
  const documents = kind === "spec" ? [text, other] : [other, text];
  return compileStepFile({ name: "x", text: documents.join("\n---\n") }).diagnostics.some(
    ({ severity }) => severity === "error",
  );
}

describe("a schema", () => {
  test.each(["spec", "definition", "run"] as const)("refuses nothing of the kind %s that compiles", (kind) => {
    const schema = schemaOf(kind);
    const validate = ajv.compile(schema);
    const counts = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(near(schema, schema, 5), (value) => {
        const isAccepted = validate(value);
        counts[isAccepted ? "accepted" : "refused"] += 1;
        return isAccepted || isRefusedAs(kind, value);
      }),
      { numRuns: 1500 },
    );
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(50);
  });

  test("is a schema of draft 2020-12, with a text for each key", () => {
    for (const kind of SCHEMA_KINDS) {
      const schema = schemaOf(kind);
      expect(ajv.validateSchema(schema)).toBe(true);
      const parts = Object.values(schema["$defs"] as Readonly<Record<string, JsonSchema>>);
      const keys = parts.flatMap((part) =>
        Object.values((part["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>),
      );
      expect(keys.length).toBeGreaterThan(5);
      expect(keys.filter((key) => typeof key["description"] !== "string")).toEqual([]);
    }
  });
});
