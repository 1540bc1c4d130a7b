import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Command, UsageError } from "./command.ts";
import { parseCommandLine, readPairs, splitPairs } from "./parse-command-line.ts";

const command: Command = {
  name: "probe",
  summary: "",
  usage: "[FILE]",
  flags: {
    force: { type: "boolean", summary: "", env: "PROBE_FORCE" },
    name: { type: "string", summary: "", env: "PROBE_NAME", default: "none" },
    mask: { type: "list", summary: "" },
    vars: { type: "pairs", summary: "" },
    inputs: { type: "comma-pairs", summary: "" },
    pattern: { type: "list", summary: "", env: "PROBE_PATTERN" },
    source: { type: "list", summary: "", env: "PROBE_SOURCE", separator: /[\s,]+(?=[^\s,=]+=)/ },
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

describe("splitPairs()", () => {
  test.each<[string, Record<string, string>]>([
    ["a=1,b=2", { a: "1", b: "2" }],
    ["a=1,2,b=x,y", { a: "1,2", b: "x,y" }],
    ["a=", { a: "" }],
    ["a==b=", { a: "=b=" }],
    ['a=[1,2],b={"c":1}', { a: "[1,2]", b: '{"c":1}' }],
    ["url=http://h/?x,y", { url: "http://h/?x,y" }],
    ['"a=1,b=2"', { a: "1,b=2" }],
    [
      "__proto__=x",
      Object.assign(Object.create(null) as object, JSON.parse('{"__proto__":"x"}')) as Record<string, string>,
    ],
  ])("of %s", (text, pairs) => {
    expect({ ...readPairs("inputs", splitPairs([text])) }).toEqual({ ...pairs });
  });

  test("refuses what has no name", () => {
    for (const text of ["", "a", "=x", ",a=1"])
      expect(() => readPairs("inputs", splitPairs([text]))).toThrow(UsageError);
  });

  test("gives back whatever was joined by commas, as long as no value looks like a pair", () => {
    const value = fc.string().filter((text) => !text.includes("="));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, minLength: 1 }), (given) => {
        const text = given.map(([key, item]) => `${key}=${item}`).join(",");
        expect({ ...readPairs("inputs", splitPairs([text])) }).toEqual(Object.fromEntries(given));
      }),
    );
  });
});

describe("readPairs()", () => {
  test("gives back whatever was given, one flag each", () => {
    fc.assert(
      fc.property(fc.dictionary(name, fc.string()), (given) => {
        const texts = Object.entries(given).map(([key, value]) => `${key}=${value}`);
        expect({ ...readPairs("vars", texts) }).toEqual({ ...given });
      }),
    );
  });
});

describe("parseCommandLine()", () => {
  test("takes a value of a repeatable flag as it stands, and splits the variable that stands in for it", () => {
    expect({ ...parse(["--vars", "A=x,B=y z", "--vars", "C="]).pairs("vars") }).toEqual({ A: "x,B=y z", C: "" });
    expect({ ...parse(["--inputs", "a=x,b=y", "--inputs", "c=,"]).pairs("inputs") }).toEqual({
      a: "x",
      b: "y",
      c: ",",
    });
    expect(parse(["--pattern", "a b,c"]).list("pattern")).toEqual(["a b,c"]);
    expect(parse([], { PROBE_PATTERN: " a b,c\n d " }).list("pattern")).toEqual(["a", "b,c", "d"]);
    expect(parse(["--source", "x=/a b,y=/c"]).list("source")).toEqual(["x=/a b,y=/c"]);
    expect(parse([], { PROBE_SOURCE: "x=/a b, y=/c,d" }).list("source")).toEqual(["x=/a b", "y=/c,d"]);
  });

  test("takes flags before the environment, and that before defaults", () => {
    expect(parse([]).string("name")).toBe("none");
    expect(parse([], { PROBE_NAME: "env" }).string("name")).toBe("env");
    expect(parse(["--name", "flag"], { PROBE_NAME: "env" }).string("name")).toBe("flag");
    expect(parse([], { PROBE_FORCE: "true" }).boolean("force")).toBe(true);
    expect(parse(["--no-force"], { PROBE_FORCE: "true" }).boolean("force")).toBe(false);
    expect(parse(["--mask", "a", "--mask", "b,c"]).list("mask")).toEqual(["a", "b,c"]);
  });

  test.each<[string, number]>([
    ["300ms", 300],
    ["2", 2000],
    ["1.5s", 1500],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["30d", 2_592_000_000],
  ])("reads the duration %s", (text, expected) => {
    expect(parse(["--wait", text]).number("wait")).toBe(expected);
  });

  test.each<[string[], Record<string, string>, RegExp]>([
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

  test("names the flag that was meant", () => {
    const long: Command = { ...command, flags: { "job-name": { type: "string", summary: "" } } };
    const hint = (flag: string): string | undefined => {
      try {
        parseCommandLine(long, [flag, "x"], {});
        return undefined;
      } catch (error) {
        return (error as UsageError).hint;
      }
    };
    expect(hint("--job")).toBe("Did you mean --job-name?");
    expect(hint("--jobname")).toBe("Did you mean --job-name?");
    expect(hint("--else")).toMatch(/--help lists the flags/);
  });

  test("knows a flag that the command lacks by its default only", () => {
    expect([parse([]).string("other"), parse([]).boolean("other"), parse([]).list("other")]).toEqual([
      undefined,
      false,
      [],
    ]);
  });

  test("throws nothing but its own errors, whatever is given", () => {
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
