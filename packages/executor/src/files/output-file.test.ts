import type { ValueType } from "@steps/model";
import type { OutputSpec, Spec } from "@steps/model/definition";
import { describe, expect, test } from "vitest";
import { plainDecimal, readExports } from "./exports.ts";
import { MAX_ENTRIES, parseOutputFile } from "./output-file.ts";
import { readDelegatedOutputs, readOutputs } from "./outputs.ts";

const port = (type: ValueType, rest: Partial<OutputSpec> = {}): OutputSpec => ({ type, isSensitive: false, ...rest });
const spec = (outputs: Spec["outputs"], rest: Partial<Spec> = {}): Spec => ({ inputs: {}, outputs, ...rest });
const read = (text: string, wanted: Spec) => ({ ...readOutputs(Buffer.from(text), wanted) });

describe("parseOutputFile()", () => {
  test("decides for each line what it is", () => {
    const text =
      '\n{"name":"a b","value":[null,1]}\r\n  NAME = x = y \n\t\nEMPTY=\n{"name":"__proto__","value":true,"more":1}';
    expect(parseOutputFile(Buffer.from(text))).toEqual({
      entries: [
        { kind: "json", line: 2, name: "a b", value: [null, 1] },
        { kind: "text", line: 3, name: "NAME", text: " x = y " },
        { kind: "text", line: 5, name: "EMPTY", text: "" },
        { kind: "json", line: 6, name: "__proto__", value: true },
      ],
    });
  });

  test.each([
    ["nonsense", "neither"],
    ["=x", "neither"],
    ["a b=x", "neither"],
    ["{", "not valid JSON"],
    ['{"value":1}', '"name" is missing'],
    ['{"name":null,"value":1}', '"name" is null'],
    ['{"name":"","value":1}', '"name" is empty'],
    ['{"name":1,"value":1}', '"name" is not a string'],
    ['{"name":"a"}', '"value" is missing'],
    ['{"name":"a","value":null}', '"value" is null'],
    ['{"name":"a","value":1e999}', "out of range"],
    [`{"name":"a","value":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "too deep"],
  ])("refuses %.30s", (line, message) => {
    const { problem } = parseOutputFile(Buffer.from(`OK=1\n\n${line}\n`));
    expect(problem?.line).toBe(3);
    expect(problem?.message).toContain(message);
  });

  test("refuses bytes that are no text and lines that are too long", () => {
    expect(parseOutputFile(Buffer.from([0x41, 0x3d, 0xff])).problem?.message).toBe(
      "the line is not UTF-8: its byte 2 begins no character",
    );
    expect(parseOutputFile(Buffer.from(`A=${"x".repeat(1024 * 1024)}`), 1024 * 1024).problem).toEqual({
      line: 1,
      message: "the line is longer than 1 MiB",
    });
  });
});

describe("readOutputs()", () => {
  test("reads lines of text as the declared type", () => {
    const wanted = spec({
      s: port("string"),
      quoted: port("string"),
      raw: port("string", { isRaw: true }),
      n: port("number"),
      list: port("array"),
    });
    expect(read('s=1\nquoted="a\\nb"\nraw="x"\nn=1\nn=2\nlist=[1]', wanted)).toEqual({
      s: "1",
      quoted: "a\nb",
      raw: '"x"',
      n: 2,
      list: [1],
    });
  });

  test("fills in defaults and marks sensitive outputs", () => {
    const outputs = read(
      "key=k",
      spec({ key: port("string", { isSensitive: true }), no: port("number", { default: null }) }),
    );
    expect(JSON.stringify(outputs)).toBe('{"key":"[MASKED]","no":null}');
  });

  test("names everything that is wrong", () => {
    const wanted = spec({ count: port("number"), gone: port("string"), flag: port("boolean") });
    expect(() => read('{"name":"count","value":"1"}\nconut=1\nflag=maybe', wanted)).toThrow(
      'outputs: line 3: output "flag": declared as "boolean", "maybe" is not valid JSON; write true or false; output "conut": not declared in the step\'s spec, did you mean ' +
        '"count"?; output "count": declared as "number", received "string"; output "gone": declared in the step\'s spec, but not written',
    );
  });

  test("takes undeclared outputs where the spec is open", () => {
    expect(read('x=1\n{"name":"y","value":{"a":1}}', spec({}, { hasOpenOutputs: true }))).toEqual({
      x: "1",
      y: { a: 1 },
    });
    expect(() => read('{"name":"a-b","value":1}', spec({}, { hasOpenOutputs: true }))).toThrow('output "a-b"');
  });

  test("never expands what a step wrote", () => {
    expect(read("x=${{ vars.SECRET }}", spec({ x: port("string") }))).toEqual({ x: "${{ vars.SECRET }}" });
  });
});

describe("readDelegatedOutputs()", () => {
  test("takes the outputs of one result", () => {
    expect({ ...readDelegatedOutputs(Buffer.from('{"status":"success","outputs":{"a":1}}\n')) }).toEqual({ a: 1 });
    expect({ ...readDelegatedOutputs(Buffer.from("{}")) }).toEqual({});
    for (const text of ["", "[]", '{"outputs":[]}', "{}{}"]) {
      expect(() => readDelegatedOutputs(Buffer.from(text))).toThrow("does not hold one step result");
    }
  });
});

describe("readExports()", () => {
  const exportsOf = (text: string) => ({ ...readExports(Buffer.from(text)) });

  test("converts scalars", () => {
    expect(exportsOf('A=1 2\n{"name":"B","value":true}\n{"name":"C","value":1e21}\nD="q"')).toEqual({
      A: "1 2",
      B: "true",
      C: "1000000000000000000000",
      D: "q",
    });
  });

  test.each([
    ['{"name":"A","value":[]}', "line 1: export"],
    ['{"name":"A=B","value":"x"}', "no name of a variable"],
    ['{"name":"A","value":"a\\u0000b"}', "NUL"],
  ])("refuses %s", (line, message) => {
    expect(() => exportsOf(line)).toThrow(message);
  });

  test.each([
    [1e21, "1000000000000000000000"],
    [1.5e-7, "0.00000015"],
    [-2.25e-10, "-0.000000000225"],
    [0.1, "0.1"],
    [-0, "0"],
    [1.2345e22, "12345000000000000000000"],
  ])("writes %d without an exponent", (value, text) => {
    expect(plainDecimal(value)).toBe(text);
  });
});

test("a file holds so many values and no more", () => {
  const lines = (count: number): Buffer => Buffer.from("a=1\n\n".repeat(count));
  expect(parseOutputFile(lines(MAX_ENTRIES))).toMatchObject({ entries: { length: MAX_ENTRIES } });
  expect(parseOutputFile(lines(MAX_ENTRIES)).problem).toBeUndefined();
  expect(parseOutputFile(lines(1_000_000)).problem).toMatchObject({
    line: 2 * MAX_ENTRIES + 1,
    message: expect.stringContaining("more than 100000 values"),
  });
});
