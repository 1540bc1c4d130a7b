import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Command, UsageError } from "./command.ts";
import { parseCommandLine, readPairs } from "./parse-command-line.ts";

const command: Command = {
  name: "probe",
  summary: "",
  usage: "[FILE]",
  flags: {
    force: { type: "boolean", summary: "", env: "PROBE_FORCE" },
    name: { type: "string", summary: "", env: "PROBE_NAME", default: "none" },
    mask: { type: "list", summary: "" },
    vars: { type: "pairs", summary: "" },
    wait: { type: "duration", summary: "", env: "PROBE_WAIT" },
    count: { type: "number", summary: "" },
    mode: { type: "string", summary: "", choices: ["a", "b"] },
  },
  positionals: { min: 0, max: 1 },
  examples: [],
  run: async () => 0,
};

const parse = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  parseCommandLine(command, args, env);

const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/);

describe("readPairs()", () => {
  it.each<[string, Record<string, string>]>([
    ["a=1,b=2", { a: "1", b: "2" }],
    ["a=1,2,b=x,y", { a: "1,2", b: "x,y" }],
    ["a=", { a: "" }],
    ["a==b=", { a: "=b=" }],
    ['a=[1,2],b={"c":1}', { a: "[1,2]", b: '{"c":1}' }],
    ["url=http://h/?x,y", { url: "http://h/?x,y" }],
    [
      "__proto__=x",
      Object.assign(Object.create(null) as object, JSON.parse('{"__proto__":"x"}')) as Record<string, string>,
    ],
  ])("of %s", (text, pairs) => {
    expect({ ...readPairs("vars", [text]) }).toEqual({ ...pairs });
  });

  it("refuses what has no name", () => {
    for (const text of ["", "a", "=x", ",a=1"]) expect(() => readPairs("vars", [text])).toThrow(UsageError);
  });

  it("gives back whatever was joined, one flag each", () => {
    const pairs = fc.dictionary(
      name,
      fc.string().filter((text) => !/,[a-zA-Z_][a-zA-Z0-9_]*=/.test(text)),
    );
    fc.assert(
      fc.property(pairs, (given) => {
        const texts = Object.entries(given).map(([key, value]) => `${key}=${value}`);
        expect({ ...readPairs("vars", texts) }).toEqual({ ...given });
      }),
    );
  });

  it("gives back whatever was joined by commas, as long as no value looks like a pair", () => {
    const value = fc.string().filter((text) => !text.includes("="));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, minLength: 1 }), (given) => {
        const text = given.map(([key, item]) => `${key}=${item}`).join(",");
        expect({ ...readPairs("vars", [text]) }).toEqual(Object.fromEntries(given));
      }),
    );
  });
});

describe("parseCommandLine()", () => {
  it("takes flags before the environment, and that before defaults", () => {
    expect(parse([]).string("name")).toBe("none");
    expect(parse([], { PROBE_NAME: "env" }).string("name")).toBe("env");
    expect(parse(["--name", "flag"], { PROBE_NAME: "env" }).string("name")).toBe("flag");
    expect(parse([], { PROBE_FORCE: "true" }).boolean("force")).toBe(true);
    expect(parse(["--no-force"], { PROBE_FORCE: "true" }).boolean("force")).toBe(false);
    expect(parse(["--mask", "a", "--mask", "b,c"]).list("mask")).toEqual(["a", "b,c"]);
  });

  it.each<[string, number]>([
    ["300ms", 300],
    ["2", 2000],
    ["1.5s", 1500],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["30d", 2_592_000_000],
  ])("reads the duration %s", (text, expected) => {
    expect(parse(["--wait", text]).number("wait")).toBe(expected);
  });

  it.each<[string[], Record<string, string>, RegExp]>([
    [["--wait", "soon"], {}, /--wait is "soon"/],
    [["--wait", "-1s"], {}, /wait/],
    [[], { PROBE_WAIT: "5 parsecs" }, /--wait is "5 parsecs"/],
    [[], { PROBE_FORCE: "perhaps" }, /--force is "perhaps"/],
    [["--count", "5s"], {}, /--count is "5s"/],
    [["--mode", "c"], {}, /--mode is "c"/],
    [["--vars", "novalue"], {}, /novalue/],
    [["--nmae", "x"], {}, /Unknown flag: "--nmae"/],
    [["a", "b"], {}, /Unexpected argument: "b"/],
    [["--name"], {}, /name/],
  ])("refuses %j with %j", (args, env, message) => {
    expect(() => parse(args, env)).toThrow(UsageError);
    expect(() => parse(args, env)).toThrow(message);
  });

  it("knows a flag that the command lacks by its default only", () => {
    expect([parse([]).string("other"), parse([]).boolean("other"), parse([]).list("other")]).toEqual([
      undefined,
      false,
      [],
    ]);
  });

  it("throws nothing but its own errors, whatever is given", () => {
    const word = fc.oneof(fc.string(), fc.constantFrom("--name", "--vars", "--wait", "--", "-x", "--force=1", "a=b"));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (args) => {
        try {
          parse(args);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
  });
});
