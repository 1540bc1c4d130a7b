import { describe, expect, test } from "vitest";
import { FileCommandError } from "./command-error.ts";
import { encodeKeyValue, isBlockedVariable, parseKeyValues, parsePathLines } from "./file-command.ts";

describe("parseKeyValues()", () => {
  test.each<[string, [string, string][]]>([
    ["", []],
    ["\n\n", []],
    ["A=1", [["A", "1"]]],
    ["A=1\n", [["A", "1"]]],
    ["A=\n", [["A", ""]]],
    ["A=b=c<<d\n", [["A", "b=c<<d"]]],
    ["A= 1 \n", [["A", " 1 "]]],
    [" A =1", [[" A ", "1"]]],
    ["A=1\r\n", [["A", "1\r"]]],
    [
      "A=1\nA=2\n",
      [
        ["A", "1"],
        ["A", "2"],
      ],
    ],
    [
      "A=1\n\n\nB=2",
      [
        ["A", "1"],
        ["B", "2"],
      ],
    ],
    ["\uFEFFA=1", [["A", "1"]]],
    ["A<<E\nx\nE\n", [["A", "x"]]],
    ["A<<E\nx\nE", [["A", "x"]]],
    ["A<<E\nE", [["A", ""]]],
    ["A<<E\n\nE", [["A", ""]]],
    ["A<<E\n\n\nE", [["A", "\n"]]],
    ["A<<E\nx\n\nE", [["A", "x\n"]]],
    [
      "A<<E\nB=1\n<<\nC<<F\nE\nD=2",
      [
        ["A", "B=1\n<<\nC<<F"],
        ["D", "2"],
      ],
    ],
    ["A<<E\nE x\n E\nE\r\nE", [["A", "E x\n E\nE\r"]]],
    ["A<<two words \nx\ntwo words\ntwo words \n", [["A", "x\ntwo words"]]],
    ["A<<=\nx\n=\n", [["A", "x"]]],
    ["A<<E=1\nx\nE=1\n", [["A", "x"]]],
    ["A<<<E\nx\n<E\n", [["A", "x"]]],
    ["A<<B<<C\nx\nB<<C\n", [["A", "x"]]],
    ["A <<E\nx\nE\n", [["A ", "x"]]],
    ["A<<E\r\nx\r\nE\r\n", [["A", "x\r"]]],
    ["A<b=c", [["A<b", "c"]]],
  ])("reads %j", (text, expected) => {
    expect(parseKeyValues(text)).toEqual(expected);
  });

  test.each<[string, [string, string][]]>([
    [
      "A=1\r\nB=2\r\n",
      [
        ["A", "1"],
        ["B", "2"],
      ],
    ],
    ["A<<E\r\nx\r\ny\r\nE\r\n", [["A", "x\r\ny"]]],
    ["A<<E\nx\r\nE", [["A", "x"]]],
    ["\r\n", []],
  ])("reads %j on Windows", (text, expected) => {
    expect(parseKeyValues(text, { isWindows: true })).toEqual(expected);
  });

  test.each<[string, number, RegExp]>([
    ["A", 1, /"="/],
    ["A=1\n\nsecret value\n", 3, /"="/],
    ["=1", 1, /name is empty/],
    ["<<E\nx\nE", 1, /name is empty/],
    ["A=1\nB<<\nx\n", 2, /delimiter of "B" is empty/],
    ["A<<E", 1, /does not come again/],
    ["A<<E\n", 1, /does not come again/],
    ["A<<E\nx\n", 1, /does not come again/],
    ["A=1\nB<<E\nx\nEE\n", 2, /does not come again/],
    ["A<<E\nx", 2, /no line end/],
    ["A<<E\nx\ny", 3, /no line end/],
    ["\r\n", 1, /"="/],
    ["A<<E\r\nx\r\nE", 3, /no line end/],
  ])("refuses %j, naming line %i", (text, line, message) => {
    let error: unknown;
    try {
      parseKeyValues(text);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(FileCommandError);
    expect(error).toMatchObject({ code: "FILE_COMMAND", line });
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain("secret value");
  });
});

describe("parsePathLines()", () => {
  test.each<[string, string[]]>([
    ["", []],
    ["/a\n\n  \n/b c\n/a", ["/a", "/b c", "/a"]],
    ["/a\r\n/b\r/c", ["/a", "/b", "/c"]],
    ["\uFEFF/a\n", ["/a"]],
    [" /a \n", [" /a "]],
  ])("reads %j", (text, expected) => {
    expect(parsePathLines(text)).toEqual(expected);
  });
});

describe("encodeKeyValue()", () => {
  test("writes what the grammar says, with a delimiter of its own each time", () => {
    expect(encodeKeyValue("A", "x\ny", "E")).toBe("A<<E\nx\ny\nE\n");
    expect(encodeKeyValue("A", "x")).toMatch(/^A<<(ghadelimiter_[0-9a-f-]{36})\nx\n\1\n$/);
    expect(encodeKeyValue("A", "x")).not.toBe(encodeKeyValue("A", "x"));
  });

  test.each<[string, string, string]>([
    ["", "x", "E"],
    ["A=B", "x", "E"],
    ["A<<B", "x", "E"],
    ["A<", "x", "E"],
    ["A\nB", "x", "E"],
    ["A\r", "x", "E"],
    ["\uFEFFA", "x", "E"],
    ["A", "x", ""],
    ["A", "x", "E\n"],
    ["A", "x\nE\nB=1", "E"],
  ])("refuses the name %j, the value %j, the delimiter %j", (name, value, delimiter) => {
    expect(() => encodeKeyValue(name, value, delimiter)).toThrow(FileCommandError);
  });
});

describe("isBlockedVariable()", () => {
  test.each([
    ["NODE_OPTIONS", true],
    ["node_options", true],
    ["NODE_OPTION", false],
    ["PATH", false],
  ])("of %s: %s", (name, expected) => {
    expect(isBlockedVariable(name)).toBe(expected);
  });
});
