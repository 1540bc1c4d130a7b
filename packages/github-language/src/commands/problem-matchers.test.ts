import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProblemMatcherError } from "./command-error.ts";
import { ProblemMatchers } from "./problem-matchers.ts";

function json(...problemMatcher: object[]): string {
  return JSON.stringify({ problemMatcher });
}

function run(text: string, lines: readonly string[]): unknown[] {
  const matchers = new ProblemMatchers();
  matchers.add(text);
  return lines.map((line) => matchers.match(line));
}

const TSC = json({
  owner: "tsc",
  pattern: [
    {
      regexp: "^(?:\\s+\\d+\\>)?([^\\s].*)\\((\\d+),(\\d+)\\):\\s+(error|warning|info)\\s+(\\w{1,2}\\d+)\\s*:\\s*(.*)$",
      file: 1,
      line: 2,
      column: 3,
      severity: 4,
      code: 5,
      message: 6,
    },
  ],
});

const STYLISH = json({
  owner: "eslint-stylish",
  pattern: [
    { regexp: "^([^\\s].*)$", file: 1 },
    {
      regexp: "^\\s+(\\d+):(\\d+)\\s+(error|warning|info)\\s+(.*)\\s\\s+(.*)$",
      line: 1,
      column: 2,
      severity: 3,
      message: 4,
      code: 5,
      loop: true,
    },
  ],
});

const THREE = json({
  owner: "three",
  severity: "notice",
  pattern: [
    { regexp: "^file (.*)", file: 1 },
    { regexp: "^at (\\d+)", line: 1 },
    { regexp: "^msg (.*)", message: 1 },
  ],
});

describe("ProblemMatchers", () => {
  test("finds a problem of one line", () => {
    expect(
      run(TSC, [
        "src/a (b).ts(12,3): error TS2304: Cannot find name 'x'.",
        "\u001B[1msrc/a.ts\u001B[0m(1,2): \u001B[33mwarning\u001B[m TS1: y",
        "src/a.ts(1,2): info TS1: not a severity",
        "nothing",
      ]),
    ).toEqual([
      {
        level: "error",
        message: "Cannot find name 'x'.",
        file: "src/a (b).ts",
        line: 12,
        col: 3,
        code: "TS2304",
        matcher: "tsc",
      },
      { level: "warning", message: "y", file: "src/a.ts", line: 1, col: 2, code: "TS1", matcher: "tsc" },
      undefined,
      undefined,
    ]);
  });

  test("goes on with the last line of a loop", () => {
    const found = (line: number, message: string, file = "a.js"): object => ({
      level: "error",
      message,
      file,
      line,
      col: 1,
      code: "r",
      matcher: "eslint-stylish",
    });
    expect(
      run(STYLISH, [
        "a.js",
        "  1:1  error  one  r",
        "  2:1  error  two  r",
        "",
        "  3:1  error  three  r",
        "b.js",
        "  4:1  error  four  r",
      ]),
    ).toEqual([undefined, found(1, "one"), found(2, "two"), undefined, undefined, undefined, found(4, "four", "b.js")]);
  });

  test.each<[string[], boolean[]]>([
    [
      ["file a", "at 1", "msg x"],
      [false, false, true],
    ],
    [
      ["file a", "at 1", "msg x", "msg y"],
      [false, false, true, false],
    ],
    [
      ["file a", "file b", "at 1", "msg x"],
      [false, false, false, true],
    ],
    [
      ["file a", "at 1", "other", "msg x"],
      [false, false, false, false],
    ],
    [
      ["file a", "other", "at 1", "msg x"],
      [false, false, false, false],
    ],
    [
      ["at 1", "msg x"],
      [false, false],
    ],
    [["msg x"], [false]],
  ])("needs the lines of a problem one after another: %j", (lines, expected) => {
    expect(run(THREE, lines).map((found) => found !== undefined)).toEqual(expected);
  });

  test("begins anew when another matcher finds something", () => {
    const matchers = new ProblemMatchers();
    matchers.add(THREE);
    matchers.add(json({ owner: "at", pattern: [{ regexp: "^at 2$", message: 0 }] }));
    const lines = ["file a", "at 2", "msg x", "file a", "at 1", "msg x"];
    expect(lines.map((line) => matchers.match(line)?.matcher)).toEqual([
      undefined,
      "at",
      undefined,
      undefined,
      undefined,
      "three",
    ]);
    const [one, two] = [matchers.createScan(), matchers.createScan()];
    expect(["file a", "at 1"].map((line) => matchers.match(line, one))).toEqual([undefined, undefined]);
    expect(matchers.match("msg x", two)).toBeUndefined();
    expect(matchers.match("msg x", one)?.file).toBe("a");
  });

  test("takes the severity of the line, then of the matcher, then error", () => {
    const pattern = [{ regexp: "^(\\w*): (.*)$", severity: 1, message: 2 }];
    const levels = (severity?: string): unknown[] =>
      run(json({ owner: "x", severity, pattern }), ["WARNING: a", ": a", "fatal: a", "notice:  "]).map(
        (found) => (found as { level?: string } | undefined)?.level,
      );
    expect(levels()).toEqual(["warning", "error", undefined, undefined]);
    expect(levels("Notice")).toEqual(["warning", "notice", undefined, undefined]);
  });

  test.each<[string, string, string | undefined]>([
    ["a/b.c", "x/y.proj", "x/a/b.c"],
    ["../b.c", "x/y/z.proj", "x/b.c"],
    ["/b.c", "x/y.proj", "/b.c"],
    ["C:\\b.c", "x/y.proj", "C:\\b.c"],
    ["b.c", "x\\y.proj", "x/b.c"],
    ["b.c", "", "b.c"],
    ["", "x/y.proj", undefined],
  ])("finds the file %j from %j", (file, fromPath, expected) => {
    const text = json({
      owner: "x",
      pattern: [{ regexp: "^(.*?)\\|(.*?)\\|(.*)$", file: 1, fromPath: 2, message: 3 }],
    });
    const [found] = run(text, [`${file}|${fromPath}|m`]);
    expect((found as { file?: string }).file).toBe(expected);
  });

  test("replaces the matcher of an owner, asks the newest first, and removes by owner and by file", () => {
    const matchers = new ProblemMatchers();
    const add = (owner: string, regexp: string, file?: string): void => {
      matchers.add(json({ owner, pattern: { regexp, message: 0 } }), file);
    };
    add("one", "a", "one.json");
    add("two", ".", "two.json");
    expect(matchers.match("a")?.matcher).toBe("two");
    add("ONE", "b", "other.json");
    expect(matchers.size).toBe(2);
    expect(matchers.match("b")?.matcher).toBe("ONE");
    expect(matchers.match("a")?.matcher).toBe("two");
    matchers.removeByFile("one.json");
    matchers.removeByFile("two.json");
    expect(matchers.match("a")).toBeUndefined();
    matchers.remove("one");
    matchers.remove("one");
    expect(matchers.size).toBe(0);
    for (let index = 0; index < 120; index++) add(`o${index}`, `^${index}$`);
    expect(matchers.size).toBe(100);
    expect([matchers.match("19"), matchers.match("20")?.matcher]).toEqual([undefined, "o20"]);
  });

  test("cuts long messages, and looks at the first 4096 characters of a line", () => {
    const text = json({ owner: "x", pattern: [{ regexp: "^(.*)(b?)$", message: 1 }] });
    const [found] = run(text, [`${"a".repeat(5000)}b`]);
    expect((found as { message: string }).message).toBe("a".repeat(4096));
  });

  test("removes a matcher whose pattern takes too long, after three lines", () => {
    const matchers = new ProblemMatchers();
    matchers.add(
      json(
        { owner: "slow", pattern: [{ regexp: ".*(?=a*b)", message: 0 }] },
        { owner: "x", pattern: { regexp: "^ok", message: 0 } },
      ),
    );
    const line = "a".repeat(4096);
    expect(matchers.match("ab")?.matcher).toBe("slow");
    for (const size of [2, 2, 1]) {
      expect(matchers.match(line)).toBeUndefined();
      expect(matchers.size).toBe(size);
    }
    expect(matchers.takeDropped()).toEqual(["slow"]);
    expect(matchers.takeDropped()).toEqual([]);
    expect(matchers.match("ok")?.matcher).toBe("x");
  });

  test.each<[string, RegExp]>([
    ["", /not JSON/],
    ["{", /not JSON/],
    ["[]", /not an object/],
    ['{"problemMatcher":{}}', /not a list/],
    [json({ pattern: [] }), /Problem matcher 1 has no owner/],
    [json({ owner: "x" }), /"x" has no pattern/],
    [json({ owner: "x", pattern: [] }), /no pattern/],
    [json({ owner: "x", severity: "info", pattern: [{ regexp: "a", message: 0 }] }), /severity: "info"/],
    [json({ owner: "x", pattern: [{ regexp: "a", file: 0 }] }), /sets no "message"/],
    [json({ owner: "x", pattern: [{ regexp: "a", message: 1 }] }), /no group 1 for "message"/],
    [json({ owner: "x", pattern: [{ regexp: "a", message: -1 }] }), /no group -1/],
    [json({ owner: "x", pattern: [{ regexp: "a", message: "one" }] }), /no group "one"/],
    [json({ owner: "x", pattern: [{ regexp: 1, message: 0 }] }), /not a text/],
    [
      json({ owner: "x", pattern: [{ regexp: "(", message: 0 }] }),
      /Pattern 1 of the problem matcher "x" cannot be used, it lacks/,
    ],
    [json({ owner: "x", pattern: [{ regexp: "(a)\\1", message: 0 }] }), /back-reference/],
    [json({ owner: "x", pattern: [{ regexp: "a", message: 0, loop: true }] }), /"loop"/],
    [json({ owner: "x", pattern: [{ regexp: "a", message: 0, loop: true }, { regexp: "b" }] }), /"loop"/],
    [
      json({
        owner: "x",
        pattern: [
          { regexp: "a", message: 0 },
          { regexp: "b", loop: true },
        ],
      }),
      /sets no "message"/,
    ],
    [
      json({
        owner: "x",
        pattern: [
          { regexp: "a", message: 0 },
          { regexp: "b", message: 0 },
        ],
      }),
      /"message" twice/,
    ],
    [json({ owner: "x", pattern: Array.from({ length: 11 }, () => ({ regexp: "a" })) }), /more than 10 patterns/],
    [json(...Array.from({ length: 51 }, () => ({}))), /more than 50/],
    [
      json({ owner: "x", pattern: { regexp: "a", message: 0 } }, { owner: "X", pattern: { regexp: "a", message: 0 } }),
      /Two problem matchers/,
    ],
    [json("x" as unknown as object), /Problem matcher 1 is not an object/],
    [" ".repeat(1024 * 1024 + 1), /larger than 1 MiB/],
  ])("refuses %.60j and changes nothing", (text, message) => {
    const matchers = new ProblemMatchers();
    matchers.add(TSC);
    expect(() => matchers.add(text)).toThrow(ProblemMatcherError);
    expect(() => matchers.add(text)).toThrow(message);
    expect(matchers.size).toBe(1);
  });

  test("takes a byte order mark, an empty list, numbers as texts and unknown keys", () => {
    const matchers = new ProblemMatchers();
    matchers.add(
      `\uFEFF${json({ owner: "x", label: 1, pattern: [{ regexp: "(a)", message: "1", file: null, kind: "file" }] })}`,
    );
    matchers.add("{}");
    matchers.add(json());
    expect(matchers.match("a")).toEqual({ level: "error", message: "a", matcher: "x" });
  });

  test("throws nothing but its error for any JSON", () => {
    const keys = fc.constantFrom(
      "problemMatcher",
      "owner",
      "pattern",
      "regexp",
      "message",
      "loop",
      "severity",
      "__proto__",
    );
    const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<unknown>("a", "", 0, 1, true, null, "(", "error"),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(keys, tie("value")),
      ),
    }));
    fc.assert(
      fc.property(values, (value) => {
        const matchers = new ProblemMatchers();
        try {
          matchers.add(JSON.stringify(value));
        } catch (error) {
          expect(error).toBeInstanceOf(ProblemMatcherError);
        }
        matchers.match("a");
      }),
      { numRuns: 1000 },
    );
  });
});
