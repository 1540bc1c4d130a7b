import { describe, expect, test } from "vitest";
import { readYaml, toValue, type YamlNode } from "./index.ts";
import { MAX_DIAGNOSTICS, MAX_TEXT_LENGTH, MAX_TOKENS } from "./limits.ts";

const read = (text: string, tags: readonly string[] = []) => readYaml({ name: "test.yml", text }, { tags });
const codes = (text: string) => read(text).diagnostics.map(({ code }) => code);
const value = (text: string) => toValue(read(text).documents[0] as YamlNode);

describe("readYaml", () => {
  test("reads YAML 1.2 core: yes is a string, 010 is ten", () => {
    expect(value("[yes, true, ~, 010, 0x10, 1.5, '1', 12:30]")).toEqual(["yes", true, null, 10, 16, 1.5, "1", "12:30"]);
  });

  test("reads a text once that is asked for again, and anew under another name or with other options", () => {
    const text = "a: [!x 1]\n";
    const first = readYaml({ name: "a.yml", text }, { tags: ["!x"] });
    expect(readYaml({ name: "a.yml", text: "a: [!x 1]\n" }, { tags: ["!x"] })).toBe(first);
    for (const other of [readYaml({ name: "b.yml", text }, { tags: ["!x"] }), readYaml({ name: "a.yml", text })])
      expect(other).not.toBe(first);
    expect(readYaml({ name: "a.yml", text }).diagnostics).toMatchObject([{ code: "unknown-tag" }]);
    const malformed = { offset: 3, byte: 3 };
    expect(readYaml({ name: "a.yml", text, malformed }, { tags: ["!x"] }).isBroken).toBe(true);
  });

  test("keeps to the core schema when a directive asks for 1.1", () => {
    expect(value("%YAML 1.1\n---\n[yes, 010]\n")).toEqual(["yes", 10]);
  });

  test("keeps each node's place and text", () => {
    const node = read("a:\n  b: 1.0\n").documents[0];
    const b = node?.kind === "mapping" ? node.entries.get("a")?.value : undefined;
    const scalar = b?.kind === "mapping" ? b.entries.get("b")?.value : undefined;
    expect(scalar).toMatchObject({ value: 1, text: "1.0", offset: 8, length: 3, style: "plain" });
  });

  test("merges mappings: own keys win, then earlier merges", () => {
    expect(value("a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  x: 0\n")).toMatchObject({
      c: { x: 0, y: 1, z: 2 },
    });
    expect(value('"<<": {x: 1}')).toEqual({ "<<": { x: 1 } });
    expect(codes("<<: 1")).toEqual(["invalid-merge"]);
  });

  test("reports a duplicate key at the second one, with the line of the first", () => {
    const { diagnostics, isBroken } = read("a: 1\nb: 2\na: 3\n");
    expect(isBroken).toBe(false);
    expect(diagnostics).toMatchObject([
      {
        code: "duplicate-key",
        severity: "error",
        position: { line: 3, column: 1 },
        hint: "The first one is in line 1.",
      },
    ]);
  });

  test("treats __proto__ as a key like any other", () => {
    const object = value("__proto__: {polluted: true}\nconstructor: 1\n") as Record<string, unknown>;
    expect(Object.keys(object)).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("reports every syntax error with its place", () => {
    const { diagnostics, isBroken } = read('a: "x\\q"\nb: "y\\q"\n');
    expect(isBroken).toBe(true);
    expect(diagnostics.map(({ code, position }) => [code, position?.line, position?.column])).toEqual([
      ["yaml-syntax", 1, 6],
      ["yaml-syntax", 2, 6],
    ]);
  });

  test("keeps tags it is told of and refuses others", () => {
    expect(read("a: !reference [b, c]", ["!reference"]).documents[0]).toMatchObject({ kind: "mapping" });
    const list = read("!reference [b, c]", ["!reference"]).documents[0];
    expect(list).toMatchObject({ kind: "list", tag: "!reference" });
    expect(codes("!reference [b, c]")).toEqual(["unknown-tag"]);
    expect(codes("!!binary aGk=")).toEqual(["unknown-tag"]);
    expect(value("!!str 1.0")).toBe("1.0");
  });

  test("takes the last of two equal keys when it is told to, with a warning", () => {
    const { documents, diagnostics } = readYaml({ name: "t", text: "a: 1\nb: 2\na: 3\n" }, { takesLastKey: true });
    expect(documents.map(toValue)).toEqual([Object.assign(Object.create(null), { a: 3, b: 2 })]);
    expect(diagnostics).toMatchObject([{ severity: "warning", code: "duplicate-key", position: { line: 3 } }]);
  });

  test("reads a list whose items have several keys behind a byte order mark", () => {
    const { documents, diagnostics } = read("\uFEFF- a: 1\r\n  b: 2\r\n- c: 3\r\n");
    expect(diagnostics).toEqual([]);
    expect(documents.map(toValue)).toEqual(read("- a: 1\n  b: 2\n- c: 3\n").documents.map(toValue));
  });

  test("counts positions behind a byte order mark and Windows line ends", () => {
    const { diagnostics } = read("\uFEFFa: 1\r\nb: 2\r\nb: 3\r\n");
    expect(diagnostics).toMatchObject([{ code: "duplicate-key", position: { line: 3, column: 1 } }]);
  });
});

describe("limits", () => {
  test.each([
    ["flow lists", "[".repeat(200_000)],
    ["flow mappings", "{a: ".repeat(50_000)],
    ["compact lists", "- ".repeat(50_000)],
    ["explicit keys", "? ".repeat(50_000)],
    ["indentation", Array.from({ length: 300 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
  ])("stops at deep nesting: %s", (_, text) => {
    expect(codes(text)).toEqual(["too-deep"]);
  });

  test("counts nesting through aliases", () => {
    let text = `a0: &a0 [x]\n`;
    for (let i = 1; i < 150; i++) text += `a${i}: &a${i} [*a${i - 1}]\n`;
    expect(codes(text)).toEqual(["too-deep"]);
  });

  test("stops an alias bomb and names it once", () => {
    let text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (let i = 1; i < 12; i++) text += `a${i}: &a${i} [${`*a${i - 1}, `.repeat(9)}]\n`;
    expect(codes(text)).toEqual(["alias-limit"]);
  });

  test("counts long texts for more when they are aliased", () => {
    const text = `a: &a ${"x".repeat(1_000_000)}\nb: [${"*a, ".repeat(100)}]\n`;
    expect(codes(text)).toEqual(["alias-limit"]);
  });

  test("refuses aliases to what holds them, and to nothing", () => {
    expect(codes("&a [*a]")).toEqual(["unknown-alias"]);
    expect(codes("[*b]")).toEqual(["unknown-alias"]);
  });

  test("reads a hundred thousand keys", () => {
    const text = Array.from({ length: 100_000 }, (_, i) => `key${i}: ${i}`).join("\n");
    const { documents, diagnostics } = read(text);
    expect(diagnostics).toEqual([]);
    expect(documents[0]?.kind === "mapping" && documents[0].entries.size).toBe(100_000);
  });

  test("keeps a bounded number of diagnostics and says so", () => {
    const { diagnostics } = read("a: 1\n".repeat(5000));
    expect(diagnostics).toHaveLength(MAX_DIAGNOSTICS + 1);
    expect(diagnostics.at(-1)).toMatchObject({ code: "too-many-problems", severity: "error" });
  });

  test.each(["]", "[]", "*a ", "&a ", '"" ', "{} ", "- a: "])(
    "takes bounded effort for a flood of errors: %s",
    (part) => {
      const { diagnostics, isBroken } = read(part.repeat(50_000));
      expect(isBroken).toBe(true);
      expect(diagnostics.length).toBeLessThanOrEqual(MAX_DIAGNOSTICS + 1);
    },
  );

  test("refuses large texts, many documents and control characters", () => {
    expect(codes(" ".repeat(MAX_TEXT_LENGTH + 1))).toEqual(["text-too-large"]);
    expect(codes("--- a\n".repeat(200))).toEqual(["too-many-documents"]);
    expect(codes(`[${"{},".repeat(MAX_TOKENS / 2)}{}]`)).toEqual(["text-too-large"]);
    expect(read("a: b\nc: \u0018").diagnostics).toMatchObject([
      {
        code: "invalid-character",
        message: "The text holds a control character: U+0018",
        position: { line: 2, column: 4 },
      },
    ]);
  });

  test("warns of replacement characters", () => {
    expect(read("a: \uFFFD").diagnostics).toMatchObject([{ code: "invalid-character", severity: "warning" }]);
  });
});
