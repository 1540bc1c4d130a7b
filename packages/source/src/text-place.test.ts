import { describe, expect, test } from "vitest";
import { readYaml } from "./read-yaml.ts";
import { spanPosition } from "./span.ts";
import { textPlace } from "./text-place.ts";
import { childOf, type YamlNode } from "./yaml-node.ts";

/** Line and column of the word HERE, as a part of the value of `key`. */
function placeOf(text: string): { line: number; column: number; shown: string } {
  const node = childOf(readYaml({ name: "t", text }).documents[0], "key") as YamlNode;
  const value =
    node.kind === "list"
      ? node.items.map((item) => (item.kind === "scalar" ? item.text : "")).join("\n")
      : node.kind === "scalar"
        ? node.text
        : "";
  const span = textPlace(node, value.indexOf("HERE"), 4);
  const { line, column } = spanPosition(span);
  return { line, column, shown: text.slice(span.offset, span.offset + span.length) };
}

describe("textPlace", () => {
  test.each([
    ["plain", "key: a b HERE c\n", 1, 10],
    ["plain over lines", "key: a\n  b\n\n  HERE c\n", 4, 3],
    ["double-quoted", 'key: "a HERE"\n', 1, 9],
    ["double-quoted with escapes", 'key: "\\u0041\\n\\x20\\t \\"\\\\ HERE"\n', 1, 27],
    ["double-quoted with an astral escape", 'key: "\\U0001F600 HERE"\n', 1, 18],
    ["double-quoted with an escaped line end", 'key: "a\\\n  HERE"\n', 2, 3],
    ["single-quoted", "key: 'it''s HERE'\n", 1, 13],
    ["literal block", "key: |\n  a\n\n   b HERE\n", 4, 6],
    ["literal block with a header", "key: |2- # note\n    a\n  HERE\n", 3, 3],
    ["folded block", "key: >-\n  a\n  b\n\n  HERE\n", 5, 3],
    ["list of lines", "key:\n- a\n- b HERE\n", 3, 5],
    ["list of quoted lines", 'key: ["a", "b HERE"]\n', 1, 15],
  ])("finds the place: %s", (_, text, line, column) => {
    expect(placeOf(text)).toEqual({ line, column, shown: "HERE" });
  });

  test("shows the place behind the end for what is missing there", () => {
    const node = childOf(readYaml({ name: "t", text: "key: 'ab'\n" }).documents[0], "key") as YamlNode;
    expect(textPlace(node, 2, 1)).toMatchObject({ offset: 8, length: 1 });
  });

  test("is all of a text that does not stand in the source as it is", () => {
    const node = childOf(readYaml({ name: "t", text: "key: ab\n" }).documents[0], "key") as YamlNode;
    const made: YamlNode = { ...node, text: "much longer", isMade: true } as YamlNode;
    expect(textPlace(made, 5, 2)).toMatchObject({ offset: 5, length: 2 });
  });
});
