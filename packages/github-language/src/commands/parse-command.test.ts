import { describe, expect, test } from "vitest";
import { parseCommand } from "./parse-command.ts";

const KNOWN = new Set(["error", "set-output", "add-matcher", "endgroup"]);

function parse(line: string): unknown {
  const command = parseCommand(line, (name) => KNOWN.has(name));
  if (!command) return undefined;
  const { name, properties, data, prefix } = command;
  return [name, Object.fromEntries(properties), data, ...(prefix === "" ? [] : [prefix])];
}

describe("parseCommand()", () => {
  test.each<[string, unknown]>([
    ["::error::x", ["error", {}, "x"]],
    ["::error::", ["error", {}, ""]],
    ["  \t\v\f::error::x", ["error", {}, "x"]],
    ["::ERROR::x", ["error", {}, "x"]],
    ["::error file=a,line=1::x", ["error", { file: "a", line: "1" }, "x"]],
    ["::error   file=a , line=1::x", ["error", { file: "a ", " line": "1" }, "x"]],
    ["::error FILE=a::x", ["error", { file: "a" }, "x"]],
    ["::error file=a,line=::x", ["error", { file: "a" }, "x"]],
    ["::error file=a,,=b,=,line::x", ["error", { file: "a" }, "x"]],
    ["::error =file=a::x", ["error", { file: "a" }, "x"]],
    ["::error file==a==b::x", ["error", { file: "a==b" }, "x"]],
    ["::error file=a,file=b::x", ["error", { file: "b" }, "x"]],
    ["::error ::x", ["error", {}, "x"]],
    ["::error::a::b::c", ["error", {}, "a::b::c"]],
    ["::error::  x ", ["error", {}, "  x "]],
    ["::error title=C:\\x::y", ["error", { title: "C:\\x" }, "y"]],
    ["::error title=a::b::c", ["error", { title: "a" }, "b::c"]],
    ["::error\tfile=a::x", undefined],
    [":: error::x", undefined],
    ["::::x", undefined],
    ["::error", undefined],
    ["::error:x", undefined],
    [":::error::x", undefined],
    ["x ::error::x", undefined],
    ["\u00A0::error::x", undefined],
    ["\uFEFF::error::x", undefined],
    ["::constructor::x", undefined],
    ["::unknown::x", undefined],
    ["", undefined],
    [" ".repeat(1024) + "::error::x", ["error", {}, "x"]],
    [" ".repeat(1025) + "::error::x", undefined],
  ])("the current form: %j", (line, expected) => {
    expect(parse(line)).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ["##[error]x", ["error", {}, "x"]],
    ["##[error]", ["error", {}, ""]],
    ["##[error file=a;line=1]x", ["error", { file: "a", line: "1" }, "x"]],
    ["##[error file=a,line=1]x", ["error", { file: "a,line=1" }, "x"]],
    ["##[error file=%5Da%3Bb]x", ["error", { file: "]a;b" }, "x"]],
    ["##[error file=a]b]x", ["error", { file: "a" }, "b]x"]],
    ["some text ##[error]x", ["error", {}, "x", "some text "]],
    ["  ##[error]x", ["error", {}, "x"]],
    ["::unknown::##[error]x", ["error", {}, "x", "::unknown::"]],
    ["##[unknown] ##[error]x", undefined],
    ["##[ error]x", undefined],
    ["##[error", undefined],
    ["# #[error]x", undefined],
    ["##[]x", undefined],
  ])("the older form: %j", (line, expected) => {
    expect(parse(line)).toEqual(expected);
  });

  test.each<[string, string, string, string]>([
    ["%0D%0A", "\r\n", "\r\n", "\r\n"],
    ["%25", "%", "%", "%"],
    ["%250A", "%0A", "%0A", "%0A"],
    ["%25250A", "%250A", "%250A", "%250A"],
    ["%%0A", "%\n", "%\n", "%\n"],
    ["%0a", "%0a", "%0a", "%0a"],
    ["%3A%2C", "%3A%2C", ":,", "%3A%2C"],
    ["%253A", "%3A", "%3A", "%3A"],
    ["%3B%5D", "%3B%5D", "%3B%5D", ";]"],
    ["%00%41", "%00%41", "%00%41", "%00%41"],
  ])("undoes the escapes of %j", (text, data, property, older) => {
    expect(parse(`::error file=${text}::${text}`)).toEqual(["error", { file: property }, data]);
    expect(parse(`##[error file=${text}]${text}`)).toEqual(["error", { file: older }, older]);
  });

  test.each([
    ["colons", ":".repeat(1 << 20)],
    ["equals signs", `::error ${"=".repeat(1 << 20)}::x`],
    ["commas", `::error ${",".repeat(1 << 20)}::x`],
    ["blanks", `${" ".repeat(1 << 20)}x`],
    ["percent signs", `::error::${"%25".repeat(1 << 18)}`],
    ["brackets", "##[".repeat(1 << 18)],
  ])("reads a mebibyte of %s", (_, line) => {
    const command = parseCommand(line, (name) => KNOWN.has(name));
    expect(command?.data.length ?? 0).toBeLessThan(line.length);
  });
});
