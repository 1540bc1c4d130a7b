import { expect, test } from "vitest";
import { schemaProblems } from "../src/document-schemas.ts";

// All cases that write a document check that the schema accepts it; the tests here check what it must refuse.
const trace = {
  formatVersion: 1,
  traceId: "0".repeat(32),
  root: { det: { status: "success" }, children: [{ path: "0" }] },
};

test("a small trace is one", () => {
  expect(schemaProblems("trace", trace)).toEqual([]);
});

test.each([
  ["a member that there is not", { ...trace, speed: 1 }],
  ["a step's that there is not", { ...trace, root: { children: [{ path: "0", stdout: "x" }] } }],
  ["no root", { formatVersion: 1, traceId: trace.traceId }],
  ["a status that there is not", { ...trace, root: { det: { status: "done" } } }],
  ["a number that is a text", { ...trace, formatVersion: "1" }],
  ["a text that is a number, though it may be large", { ...trace, integrity: { journalEvents: 12 } }],
  [
    "a value and what stands for it",
    { ...trace, request: { inputs: { a: { value: 1, redacted: { reason: "sensitive" } } } } },
  ],
  ["a list", []],
])("a trace with %s is refused", (_name, document) => {
  expect(schemaProblems("trace", document)).not.toEqual([]);
});

test.each([
  ["a status that there is not", { status: "done" }],
  ["a list of outputs", { outputs: [] }],
])("a result tree with %s is refused", (_name, document) => {
  expect(schemaProblems("step-results", document)).not.toEqual([]);
});
