import { compileStepFile, compileStepList, type SchemaKind, schemaOf } from "@steps/compiler";
import { readYaml, toValue } from "@steps/source";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { readCases } from "../src/read-cases.ts";

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const validators = {
  spec: ajv.compile(schemaOf("spec")),
  definition: ajv.compile(schemaOf("definition")),
  step: ajv.compile(schemaOf("step")),
  run: ajv.compile(schemaOf("run")),
};

/** Mistakes that no schema sees: what names refer to, what texts mean, and what is no YAML to begin with. */
const BEYOND_A_SCHEMA: ReadonlySet<string> = new Set([
  "duplicate-key",
  "duplicate-name",
  "expression-not-allowed",
  "invalid-character",
  "invalid-default",
  "invalid-delegate",
  "invalid-expression",
  "invalid-key",
  "invalid-match",
  "invalid-merge",
  "invalid-number",
  "invalid-reference",
  "missing-output",
  "undeclared-output",
  "unknown-tag",
]);

interface Checked {
  readonly id: string;
  /** Codes of the compiler's errors. */
  readonly errors: readonly string[];
  /** The problems that the schemas find in the documents. */
  readonly problems: readonly string[];
  /** Either document of a step file is judged by the schema of both in the same way. */
  readonly eitherAgrees: boolean;
}

function check({ id, data }: ReturnType<typeof readCases>[number]): readonly Checked[] {
  const source = { name: "input.yml", text: String(data["input"]) };
  const isFile = data["as"] === "step-file";
  const { documents, isBroken } = readYaml(source);
  const kinds: readonly SchemaKind[] = isFile ? ["spec", "definition"] : ["run"];
  // A text of no documents, or of too many, is none of those that a schema is for.
  if (isBroken || documents.length !== kinds.length) return [];
  const { diagnostics } = (isFile ? compileStepFile : compileStepList)(source);
  const values = documents.map((node) => JSON.parse(JSON.stringify(toValue(node))) as unknown);
  const said = values.map((value, i) => problemsOf(kinds[i] as SchemaKind, value));
  return [
    {
      id,
      errors: diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code),
      problems: said.flat(),
      eitherAgrees: !isFile || values.every((value, i) => said[i]?.length !== 0 || validators.step(value)),
    },
  ];
}

function problemsOf(kind: SchemaKind, value: unknown): readonly string[] {
  const validate = validators[kind];
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ""}`);
}

const checked = readCases()
  .filter(({ kind, data }) => kind === "compile" && data["as"] !== "input")
  .flatMap(check);

describe("the schemas of step files and lists", () => {
  test.each(checked.filter(({ errors }) => errors.length === 0))(
    "accept what compiles: $id",
    ({ problems, eitherAgrees }) => {
      expect(problems).toEqual([]);
      expect(eitherAgrees).toBe(true);
    },
  );

  const misshapen = checked.filter(({ errors }) => errors.some((code) => !BEYOND_A_SCHEMA.has(code)));
  test.each(misshapen)("refuse what has not the shape: $id", ({ problems }) => {
    expect(problems).not.toEqual([]);
  });

  test("are tried with many texts of either kind", () => {
    expect(checked.filter(({ errors }) => errors.length === 0).length).toBeGreaterThan(30);
    expect(misshapen.length).toBeGreaterThan(20);
  });
});
