import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readYaml, type YamlNode } from "./index.ts";
import { readJson } from "./read-json.ts";

const LETTERS = fc.constantFrom(
  ...'ab"\\/\t\n\r: ,#-{}[]<&*!|>%@`\u0085\u2028\u00e9\u{1f600}\u007f\ud83d'.split(""),
  "0",
  "\u{1f600}",
);
const text = fc.string({ unit: LETTERS, maxLength: 8 });
const json = fc.letrec<{ value: unknown; key: string }>((tie) => ({
  key: fc.oneof(text, fc.constantFrom("<<", "", "a", "null", "1", "__proto__", "k".repeat(1200))),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(text, fc.constantFrom(null, true, false, 0, -0, 1.5, -3, 1e21, 1e-7, 2 ** 70)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(tie("key"), tie("value"), { maxKeys: 4 }),
  ),
})).value;
const indent = fc.constantFrom(undefined, 1, 2, "\t");
const ending = fc.constantFrom("", "\n", " ", "\n\n");

// A comment makes no difference to YAML, and is no JSON.
function readAsYaml(content: string): readonly YamlNode[] {
  const { documents, diagnostics } = readYaml({ name: "t", text: `${content}\n#` });
  expect(diagnostics).toEqual([]);
  return documents;
}

function withoutSource(node: unknown): unknown {
  const entriesOf = (value: unknown): unknown => (value instanceof Map ? [...value] : value);
  return JSON.parse(
    JSON.stringify(node, (key, value) =>
      key === "source" ? undefined : Object.is(value, -0) ? "-0" : entriesOf(value),
    ),
  );
}

test("readJson() reads JSON as the YAML it is, or leaves it", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.array(json, { maxLength: 4 }), indent, ending, (value, space, end) => {
      const content = JSON.stringify(value, null, space);
      const node = readJson({ name: "t", text: content + end });
      if (node === undefined) return;
      read += 1;
      expect([withoutSource(node)]).toEqual(withoutSource(readAsYaml(content)));
    }),
    { numRuns: 200 },
  );
  expect(read).toBeGreaterThan(50);
});

test("readJson() leaves all else to the reader of YAML", () => {
  const pieces = fc.constantFrom(
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    '"a"',
    '"b":',
    "1",
    "01",
    "-",
    "true",
    "nul",
    " ",
    "\n",
    "\t",
    "#",
    "'c'",
    "&x",
    '"',
    "\\",
    "---",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const content = `[${parts.join("")}]`;
      const node = readJson({ name: "t", text: content });
      if (node !== undefined) expect([withoutSource(node)]).toEqual(withoutSource(readAsYaml(content)));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["no list and no object", "1"],
  ["a key twice", '{"a": 1, "a": 2}'],
  ["a comma at the end", "[1,]"],
  ["a comment", "[1] # one"],
  ["two values", "[1] [2]"],
  ["deep nesting", "[".repeat(60) + "]".repeat(60)],
  ["a tab between", "[\t1]"],
  ["an escape that JSON does not have", String.raw`["\x41"]`],
  ["a number that JSON does not have", "[010]"],
  ["very many values", `[${"1,".repeat(300_000)}1]`],
])("readJson() leaves %s", (_, content) => {
  expect(readJson({ name: "t", text: content })).toBeUndefined();
});
