import { fromBinary, fromJson, fromJsonString, toBinary, toJson, toJsonString } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
// @boundaries-ignore the model writes the baseline's JSON by hand; this is where the schema holds it to its word
import { encodeSpecDefinition } from "../../model/src/definition/baseline.ts";
// @boundaries-ignore the model writes the baseline's JSON by hand; this is where the schema holds it to its word
import { canonicalJson } from "../../model/src/value/index.ts";
// @boundaries-ignore the model writes the baseline's JSON by hand; this is where the schema holds it to its word
import { anySpecDefinition } from "../../model/test/arbitrary.ts";
import { SpecDefinitionSchema } from "../src/index.ts";

// Encoded records have no prototype, which `toEqual()` overlooks and protobuf's reader does not mind.
describe("the baseline's JSON", () => {
  test("is read and written the same by protobuf", () => {
    fc.assert(
      fc.property(anySpecDefinition, (specDefinition) => {
        const json = encodeSpecDefinition(specDefinition);
        expect(toJson(SpecDefinitionSchema, fromJson(SpecDefinitionSchema, json))).toEqual(json);
      }),
      { numRuns: 300 },
    );
  });

  test("passes through the binary form and JSON text unchanged", () => {
    fc.assert(
      fc.property(anySpecDefinition, (specDefinition) => {
        const json = encodeSpecDefinition(specDefinition);
        const message = fromJsonString(SpecDefinitionSchema, JSON.stringify(json));
        const again = fromBinary(SpecDefinitionSchema, toBinary(SpecDefinitionSchema, message));
        expect(canonicalJson(JSON.parse(toJsonString(SpecDefinitionSchema, again)))).toBe(canonicalJson(json));
      }),
      { numRuns: 300 },
    );
  });
});
