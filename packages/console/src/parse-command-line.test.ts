import { resolve } from "node:path";
import * as fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { type Command, defineCommand } from "./command.ts";
import type { OptionsOf } from "./flag.ts";
import * as flag from "./flag-kinds.ts";
import { parseCommandLine } from "./parse-command-line.ts";
import { readPairs, splitPairs } from "./read-flag-value.ts";
import { UsageError } from "./usage-error.ts";

const command = defineCommand({
  name: "probe",
  summary: "",
  usage: "[FILE]",
  flags: {
    force: flag.boolean({ summary: "", env: "PROBE_FORCE" }),
    checked: flag.boolean({ summary: "", default: true }),
    name: flag.text({ summary: "", env: "PROBE_NAME", default: "none" }),
    title: flag.text({ summary: "" }),
    "work-dir": flag.path({ summary: "" }),
    mask: flag.list({ summary: "" }),
    vars: flag.pairs({ summary: "" }),
    inputs: flag.commaPairs({ summary: "" }),
    pattern: flag.list({ summary: "", env: "PROBE_PATTERN" }),
    source: flag.list({ summary: "", env: "PROBE_SOURCE", separator: /[\s,]+(?=[^\s,=]+=)/ }),
    wait: flag.duration({ summary: "", env: "PROBE_WAIT" }),
    port: flag.integer({ summary: "", max: 65_535 }),
    "max-jobs": flag.integer({ summary: "", default: "7" }),
    "max-size": flag.size({ summary: "" }),
    mode: flag.choice(["a", "b"], { summary: "" }),
    form: flag.choice(["json", "yaml"], { summary: "", default: "json" }),
    secret: flag.secrets({ summary: "" }),
  },
  positionals: { min: 0, max: 1 },
  examples: [],
  run: async () => 0,
});

const parse = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  parseCommandLine(command, args, env).options;

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
    expect({ ...parse(["--vars", "A=x,B=y z", "--vars", "C="]).vars }).toEqual({ A: "x,B=y z", C: "" });
    expect({ ...parse(["--inputs", "a=x,b=y", "--inputs", "c=,"]).inputs }).toEqual({
      a: "x",
      b: "y",
      c: ",",
    });
    expect(parse(["--pattern", "a b,c"]).pattern).toEqual(["a b,c"]);
    expect(parse([], { PROBE_PATTERN: " a b,c\n d " }).pattern).toEqual(["a", "b,c", "d"]);
    expect(parse(["--source", "x=/a b,y=/c"]).source).toEqual(["x=/a b,y=/c"]);
    expect(parse([], { PROBE_SOURCE: "x=/a b, y=/c,d" }).source).toEqual(["x=/a b", "y=/c,d"]);
  });

  test("takes flags before the environment, and that before defaults", () => {
    expect(parse([]).name).toBe("none");
    expect(parse([], { PROBE_NAME: "env" }).name).toBe("env");
    expect(parse(["--name", "flag"], { PROBE_NAME: "env" }).name).toBe("flag");
    expect(parse([], { PROBE_FORCE: "true" }).force).toBe(true);
    expect(parse(["--no-force"], { PROBE_FORCE: "true" }).force).toBe(false);
    expect(parse(["--mask", "a", "--mask", "b,c"]).mask).toEqual(["a", "b,c"]);
  });

  test.each<[string, number]>([
    ["300ms", 300],
    ["2", 2000],
    ["1.5s", 1500],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["30d", 2_592_000_000],
  ])("reads the duration %s", (text, expected) => {
    expect(parse(["--wait", text]).wait).toBe(expected);
  });

  test.each<[string[], Record<string, string>, RegExp]>([
    [["--wait", "soon"], {}, /--wait is "soon"/],
    [["--wait", "-1s"], {}, /wait/],
    [[], { PROBE_WAIT: "5 parsecs" }, /--wait is "5 parsecs"/],
    [[], { PROBE_FORCE: "perhaps" }, /--force is "perhaps"/],
    [["--port", "5s"], {}, /--port is "5s"/],
    [["--port", "65536"], {}, /--port is "65536"/],
    [["--port", "1.5"], {}, /--port is "1.5"/],
    [["--port=-1"], {}, /--port is "-1"/],
    [["--max-size", "5k"], {}, /--max-size is "5k"/],
    [["--secret", "novalue"], {}, /--secret is not NAME=VALUE/],
    [["--secret", "a=env:STEPS_NOT_SET"], {}, /--secret a names a variable that is not set: "STEPS_NOT_SET"/],
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
    const long: Command = { ...command, flags: { "job-name": flag.text({ summary: "" }) } };
    const hint = (typed: string): string | undefined => {
      try {
        parseCommandLine(long, [typed, "x"], {});
        return undefined;
      } catch (error) {
        return (error as UsageError).hint;
      }
    };
    expect(hint("--job")).toBe("Did you mean --job-name?");
    expect(hint("--jobname")).toBe("Did you mean --job-name?");
    expect(hint("--else")).toMatch(/--help lists the flags/);
  });

  test("names the flag that has this name elsewhere, before one that is spelt nearly so", () => {
    const flags = { jobs: flag.integer({ summary: "" }), only: flag.text({ summary: "", otherNames: ["job"] }) };
    const other: Command = { ...command, flags };
    const typed = (): unknown => parseCommandLine(other, ["--job", "x"], {});
    expect(typed).toThrow(expect.objectContaining({ hint: "Did you mean --only?" }));
  });

  test("gives options the types of their flags, so that a name that is wrong does not compile", () => {
    expectTypeOf<OptionsOf<typeof command.flags>>().toEqualTypeOf<{
      readonly force: boolean;
      readonly checked: boolean;
      readonly name: string;
      readonly title: string | undefined;
      readonly workDir: string | undefined;
      readonly mask: readonly string[];
      readonly vars: Readonly<Record<string, string>>;
      readonly inputs: Readonly<Record<string, string>>;
      readonly pattern: readonly string[];
      readonly source: readonly string[];
      readonly wait: number | undefined;
      readonly port: number | undefined;
      readonly maxJobs: number;
      readonly maxSize: number | undefined;
      readonly mode: "a" | "b" | undefined;
      readonly form: "json" | "yaml";
      readonly secret: Readonly<Record<string, string>>;
    }>();
    expect(parse([])).toMatchObject({ force: false, checked: true, title: undefined, maxJobs: 7, form: "json" });
  });

  test("turns values into what the command works with", () => {
    const options = parse(["--work-dir", "a/../b", "--max-size", "0.5", "--port", "0", "--secret", "a=b=c"]);
    expect(options).toMatchObject({ workDir: resolve("b"), maxSize: 524_288, port: 0, secret: { a: "b=c" } });
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
