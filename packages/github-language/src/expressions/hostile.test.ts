import type { Value } from "@steps/model";
import { describe, expect, test } from "vitest";
import { checkTemplate } from "./check.ts";
import { evaluateCondition } from "./condition.ts";
import { evaluateTemplate } from "./evaluate.ts";
import { expressionLimits } from "./limits.ts";

const MEGABYTE = 1024 * 1024;

function evaluate(expression: string, inputs: Value = {}): Value {
  return evaluateTemplate(`\${{ ${expression} }}`, { contexts: { inputs, env: {} } });
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return "no error";
}

describe("length and depth", () => {
  test("takes 21,000 characters of an expression and no more", () => {
    const fill = (length: number): string => `\${{'${"x".repeat(length - 2)}'}}`;
    expect(evaluateTemplate(fill(21_000), { contexts: {} })).toBe("x".repeat(20_998));
    expect(codeOf(() => evaluateTemplate(fill(21_001), { contexts: {} }))).toBe("EXPRESSION_TOO_LONG");
  });

  test("takes any length of text around it", () => {
    const text = "x".repeat(2 * MEGABYTE);
    expect(evaluateTemplate(`${text}\${{ 1 }}${text}`, { contexts: {} })).toHaveLength(4 * MEGABYTE + 1);
  });

  test.each<[what: string, make: (depth: number) => string]>([
    ["calls", (depth) => `${"join(".repeat(depth - 1)}1${")".repeat(depth - 1)}`],
    ["negations", (depth) => `${"!".repeat(depth - 1)}1`],
    ["comparisons", (depth) => `1${" == 1".repeat(depth - 1)}`],
    ["properties", (depth) => `inputs${".a".repeat(depth - 1)}`],
    ["filters", (depth) => `inputs${".*".repeat(depth - 1)}`],
  ])("takes 50 levels of %s", (_, make) => {
    expect(codeOf(() => evaluate(make(49)))).toBe("no error");
    expect(codeOf(() => evaluate(make(51)))).toBe("EXPRESSION_TOO_DEEP");
    expect(codeOf(() => evaluate(make(2000)))).toBe("EXPRESSION_TOO_DEEP");
  });

  test("takes a long row of operands", () => {
    expect(evaluate(Array.from({ length: 4000 }, () => "1").join(" && "))).toBe(1);
    expect(evaluate(Array.from({ length: 4000 }, () => "0").join("||"))).toBe(0);
  });

  test.each(["(", "[", "!", "inputs[", "toJSON(", "-", ".", "a.", "*", "}", "{", "${{"])(
    "refuses a long row of %s",
    (text) => {
      expect(codeOf(() => evaluate(text.repeat(Math.floor(20_000 / text.length))))).not.toMatch(/no error|undefined/);
    },
  );

  test("counts levels of values", () => {
    let deep: Value = 1;
    for (let i = 0; i < 50_000; i++) deep = [deep];
    expect(codeOf(() => evaluate("toJSON(inputs.deep)", { deep }))).toBe("VALUE_TOO_DEEP");
    const text = "[".repeat(50_000) + "]".repeat(50_000);
    expect(codeOf(() => evaluate("fromJSON(inputs.text)", { text }))).toMatch(/VALUE_TOO_DEEP|INVALID_ARGUMENT/);
    const most = "[".repeat(100) + "]".repeat(100);
    expect(codeOf(() => evaluate("toJSON(fromJSON(inputs.text))", { text: most }))).toBe("no error");
    expect(codeOf(() => evaluate("fromJSON(inputs.text)", { text: `[${most}]` }))).toBe("VALUE_TOO_DEEP");
    expect(evaluate("inputs.deep == inputs.deep", { deep })).toBe(true);
  });
});

describe("memory", () => {
  const megabyte = "x".repeat(MEGABYTE);

  test.each<[what: string, expression: string]>([
    ["format", `format('${"{0}".repeat(6)}', inputs.megabyte)`],
    ["format of format", `format('{0}{0}{0}', format('{0}{0}', inputs.megabyte))`],
    ["join", "join(inputs.megabytes)"],
    ["join by a long separator", "join(inputs.list, inputs.megabyte)"],
    ["toJSON", "toJSON(inputs.megabytes)"],
    ["toJSON of toJSON of escapes", "toJSON(toJSON(toJSON(inputs.quotes)))"],
    ["fromJSON", "fromJSON(inputs.json)"],
    ["fromJSON again and again", Array.from({ length: 12 }, () => "!fromJSON(inputs.half)").join(" || ")],
    ["a filter of a filter", "inputs.wide.*.*.*"],
  ])("ends %s above 10 MiB", (_, expression) => {
    const row = Array.from({ length: 1200 }, () => 1);
    const inputs = {
      megabyte,
      megabytes: Array.from({ length: 6 }, () => megabyte),
      list: Array.from({ length: 10 }, () => 1),
      quotes: '"'.repeat(MEGABYTE),
      json: `"${"x".repeat(5 * MEGABYTE)}"`,
      half: `"${"x".repeat(MEGABYTE / 2)}"`,
      wide: Array.from({ length: 1200 }, () => [row]),
    };
    expect(codeOf(() => evaluate(expression, inputs))).toBe("TOO_MUCH_MEMORY");
  });

  test("counts over all expressions of a text", () => {
    const text = "${{ format('{0}', inputs.megabyte) }}".repeat(6);
    expect(codeOf(() => evaluateTemplate(text, { contexts: { inputs: { megabyte } } }))).toBe("TOO_MUCH_MEMORY");
  });

  test("does not count what it only looks at", () => {
    const inputs = { big: "x".repeat(8 * MEGABYTE) };
    expect(evaluate("inputs.big", inputs)).toHaveLength(8 * MEGABYTE);
    expect(evaluate("inputs.big == inputs.big && 'same'", inputs)).toBe("same");
  });

  test("takes wide values without using up the stack", () => {
    const inputs = { list: Array.from({ length: 100_000 }, (_, i) => i) };
    expect(evaluate("contains(inputs.list, 99999)", inputs)).toBe(true);
    expect(evaluate("inputs.list.*", inputs)).toHaveLength(100_000);
    const object = Object.fromEntries(inputs.list.map((i) => [`k${i}`, i]));
    expect(evaluate("inputs.object.*", { object })).toHaveLength(100_000);
    expect(evaluate("fromJSON(inputs.text)", { text: JSON.stringify(inputs.list) })).toHaveLength(100_000);
  });
});

describe("time", () => {
  const big = "a".repeat(4 * MEGABYTE);
  const inputs = {
    big,
    half: `b${big.slice(0, big.length / 2)}`,
    other: `${big.slice(1)}b`,
    digits: `${"1".repeat(4 * MEGABYTE)}x`,
  };

  test.each<[what: string, expression: string]>([
    ["many searches of a long text", Array.from({ length: 500 }, () => "contains(inputs.big, 'x')").join(" || ")],
    ["many comparisons", Array.from({ length: 500 }, () => "inputs.big == inputs.other").join(" || ")],
    ["many conversions", Array.from({ length: 500 }, () => "inputs.digits == 1").join(" || ")],
    ["a search for a long text", "contains(inputs.big, inputs.half)"],
    ["many searches of a long list", Array.from({ length: 500 }, () => "contains(inputs.list, 'x')").join(" || ")],
    ["many keys", Array.from({ length: 500 }, (_, i) => `fromJSON(inputs.json).X${i}`).join(" || ")],
  ])("ends %s", (_, expression) => {
    const list = Array.from({ length: 200_000 }, (_, i) => i);
    const json = JSON.stringify(Object.fromEntries(list.slice(0, 10_000).map((i) => [`k${i}`, null])));
    expect(codeOf(() => evaluate(expression, { ...inputs, list, json }))).toMatch(/TOO_MUCH_(EFFORT|MEMORY)/);
  });

  test("reads long texts that are no numbers, once", () => {
    expect(evaluate("inputs.digits == 1", inputs)).toBe(false);
    expect(evaluate("inputs.spaces == 1", { spaces: `${" ".repeat(4 * MEGABYTE)}x` })).toBe(false);
  });

  test("splits and checks long rows of braces and quotes", () => {
    const names = { contexts: ["inputs"] };
    const rows = ["${{ ", "${{ 1 }}", "${{ '}} ", "'", "}}", "${{'}}'", "${{ ''"];
    for (const row of rows) {
      const text = row.repeat(20_000);
      expect(checkTemplate(text, names).length).toBeLessThanOrEqual(20_001);
      expect(codeOf(() => evaluateTemplate(text, { contexts: {} }))).not.toBe("undefined");
    }
  });

  test("explains a condition with long values in a line", () => {
    const contexts = { inputs: { ...inputs, lines: "a\n\u001b[2Jb".repeat(1000) } };
    const { explanation } = evaluateCondition("inputs.big == inputs.lines || inputs.lines == inputs.big", { contexts });
    expect(explanation.length).toBeLessThanOrEqual(500);
    expect(explanation).toMatch(/^[\u0020-\u007e]*$/);
    const row = Array.from({ length: 800 }, (_, i) => `inputs.big == 'x${i}'`).join(" || ");
    expect(evaluateCondition(row, { contexts }).explanation).toMatch(/ and 797 more$/);
  });
});

test("keeps a bounded number of texts", () => {
  for (let i = 0; i < 5000; i++) expect(evaluate(`${i} == ${i}`)).toBe(true);
  expect(evaluate("'x' == 'X'")).toBe(true);
});

test("says what the limits are", () => {
  expect(expressionLimits).toMatchObject({ maxExpressionLength: 21_000, maxDepth: 50, maxBytes: 10 * MEGABYTE });
});
