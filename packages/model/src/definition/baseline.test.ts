import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anySpecDefinition } from "../../test/arbitrary.ts";
import {
  BaselineError,
  decodeReference,
  decodeSpecDefinition,
  encodeReference,
  encodeSpecDefinition,
} from "./baseline.ts";
import { canonicalJson } from "../value/canonical.ts";
import type { SpecDefinition } from "./definition.ts";

describe("encodeSpecDefinition()", () => {
  test("writes the seed's example as GitLab's runner would", () => {
    const specDefinition: SpecDefinition = {
      spec: { inputs: { who: { type: "string", default: "world", isSensitive: false } }, outputs: {} },
      definition: {
        type: "steps",
        steps: [
          {
            name: "hello",
            step: { kind: "git", url: "https://u:t@gitlab.com/g/p", version: "v1", dir: "steps", file: "x.yml" },
            inputs: { who: "${{ inputs.who }}" },
            env: {},
          },
        ],
        env: {},
        outputs: {},
        delegate: "hello",
      },
    };
    expect(encodeSpecDefinition(specDefinition)).toEqual({
      spec: { spec: { inputs: { who: { type: "string", default: "world" } }, outputMethod: "outputs" } },
      definition: {
        type: "steps",
        steps: [
          {
            name: "hello",
            step: {
              protocol: "git",
              url: "https://gitlab.com/g/p",
              version: "v1",
              paths: { parts: ["steps"] },
              filename: "x.yml",
            },
            inputs: { who: "${{ inputs.who }}" },
          },
        ],
        delegate: "hello",
      },
    });
  });

  test("is undone by decodeSpecDefinition(), by way of JSON text, for everything the baseline can say", () => {
    fc.assert(
      fc.property(anySpecDefinition, (specDefinition) => {
        const text = JSON.stringify(encodeSpecDefinition(specDefinition));
        expect(decodeSpecDefinition(JSON.parse(text) as ReturnType<typeof encodeSpecDefinition>)).toEqual(
          specDefinition,
        );
      }),
      { numRuns: 500 },
    );
  });

  test("keeps `__proto__` as a name like any other", () => {
    const inputs = JSON.parse('{"__proto__":{"type":"string","isSensitive":true}}') as SpecDefinition["spec"]["inputs"];
    const env = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const specDefinition: SpecDefinition = {
      spec: { inputs, outputs: "delegate" },
      definition: { type: "exec", command: ["a"], env },
    };
    expect(canonicalJson(decodeSpecDefinition(encodeSpecDefinition(specDefinition)))).toBe(
      canonicalJson(specDefinition),
    );
  });

  test("keeps a default of null apart from none", () => {
    const ports = {
      a: { type: "string", default: null, isSensitive: false },
      b: { type: "string", isSensitive: false },
    } as const;
    const spec = decodeSpecDefinition(
      encodeSpecDefinition({
        spec: { inputs: ports, outputs: {} },
        definition: { type: "exec", command: ["a"], env: {} },
      }),
    ).spec;
    expect(spec.inputs["a"]?.default).toBeNull();
    expect(spec.inputs["b"]?.default).toBeUndefined();
  });
});

describe("encodeReference()", () => {
  test.each(["git", "zip"] as const)("leaves credentials out of a %s URL", (kind) => {
    const url = "https://user:s3cret@h/x.zip?private_token=s3cret";
    const reference =
      kind === "git" ? ({ kind, url, version: "v1", dir: "" } as const) : ({ kind, url, dir: "" } as const);
    expect(JSON.stringify(encodeReference(reference))).not.toContain("s3cret");
  });
});

describe("decodeReference()", () => {
  test("reads the older form of paths and the blueprint's one text", () => {
    expect(decodeReference({ protocol: "local", path: [".", "a"] })).toEqual({ kind: "local", path: "./a" });
    expect(decodeReference({ url: "gitlab.com/g/p@v1" })).toEqual({
      kind: "git",
      url: "https://gitlab.com/g/p",
      dir: "steps",
      version: "v1",
    });
  });
});

describe("decodeSpecDefinition()", () => {
  const refuses = (json: unknown, message: string): void => {
    const decode = (): unknown => decodeSpecDefinition(json as Parameters<typeof decodeSpecDefinition>[0]);
    expect(decode).toThrow(BaselineError);
    expect(decode).toThrow(message);
  };
  test("says what is missing", () => {
    refuses({}, "definition is missing");
    refuses({ definition: {} }, "definition has no type");
    refuses({ definition: { type: "definition_type_unspecified" } }, "definition has no type");
    refuses({ definition: { type: "exec" } }, "exec.command is empty");
    refuses({ definition: { type: "exec", exec: { command: [] } } }, "exec.command is empty");
    refuses({ definition: { steps: [{ name: "a" }] } }, 'step "a" has no reference');
    refuses({ definition: { steps: [{ step: { protocol: "x" as "git" } }] } }, 'unknown protocol "x"');
    refuses({ definition: { steps: [{ step: { protocol: "spec_def" } }] } }, "inline definition is missing");
  });

  test("reads a definition without a type by what it has, and a spec without one as empty", () => {
    expect(decodeSpecDefinition({ definition: { exec: { command: ["a"] } } })).toEqual({
      spec: { inputs: {}, outputs: {} },
      definition: { type: "exec", command: ["a"], env: {} },
    });
    expect(decodeSpecDefinition({ spec: { spec: { outputMethod: "delegate" } }, definition: { steps: [] } })).toEqual({
      spec: { inputs: {}, outputs: "delegate" },
      definition: { type: "steps", steps: [], env: {}, outputs: {} },
    });
  });
});
