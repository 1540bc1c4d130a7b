import { describe, expect, test } from "vitest";
import { createScope, defaultFunctions, expand, ExpressionError, type ExpressionErrorCode } from "./index.ts";
import { FUNCTION_NAMES } from "./names.ts";

const scope = createScope({
  dict: { a: 1, "b-c": null },
  list: ["x", 2, [3]],
  big: "a".repeat(10 * 1024 * 1024),
});

const value = (expression: string): unknown => expand(`\${{ ${expression} }}`, scope);

function codeOf(expression: string): ExpressionErrorCode | "none" {
  try {
    value(expression);
  } catch (error) {
    if (error instanceof ExpressionError) return error.code;
    throw error;
  }
  return "none";
}

test("defaultFunctions are those that FUNCTION_NAMES names", () => {
  expect(Object.keys(defaultFunctions).toSorted()).toEqual([...FUNCTION_NAMES].toSorted());
});

describe("functions of Moa (6.7)", () => {
  test.each<[string, unknown]>([
    ["str('a')", "a"],
    ["str(null)", "<null>"],
    ["str(true)", "true"],
    ["str(1.0)", "1"],
    ["str(-0)", "0"],
    ["str([1, null, {b: 'x', a: 2}])", '[1,null,{"b":"x","a":2}]'],
    ["num('42')", 42],
    ["num('-1.5e3')", -1500],
    ["num(7)", 7],
    ["bool('')", false],
    ["bool('false')", true],
    ["bool([0])", true],
    ["bool({})", false],
    ["bool(null)", false],
  ])("%s is %j", (expression, wanted) => {
    expect(value(expression)).toEqual(wanted);
  });

  test.each<[string, ExpressionErrorCode]>([
    ["num('')", "INVALID_ARGUMENT"],
    ["num(' 1')", "INVALID_ARGUMENT"],
    ["num('0x10')", "INVALID_ARGUMENT"],
    ["num('Infinity')", "INVALID_ARGUMENT"],
    ["num('1e999')", "NUMBER_NOT_FINITE"],
    ["num(true)", "TYPE_MISMATCH"],
    ["num(null)", "TYPE_MISMATCH"],
    ["str()", "WRONG_ARITY"],
    ["str(1, 2)", "WRONG_ARITY"],
  ])("%s: %s", (expression, code) => {
    expect(codeOf(expression)).toBe(code);
  });
});

describe("extensions", () => {
  test.each<[string, unknown]>([
    ["has(dict, 'a')", true],
    ["has(dict, 'b-c')", true],
    ["has(dict, 'c')", false],
    ["has(dict, 'toString')", false],
    ["has(list, 2)", true],
    ["has(list, 3)", false],
    ["has(null, 'a')", false],
    ["get(dict, 'a', 0)", 1],
    ["get(dict, 'b-c', 0)", null],
    ["get(dict, 'c', 0)", 0],
    ["get(dict, 'c')", null],
    ["get(get(dict, 'c'), 'd', 'none')", "none"],
    ["get(list, 0)", "x"],
    ["get(list, -1, 'd')", "d"],
    ["len('a\u{1F600}')", 2],
    ["len(list)", 3],
    ["len(dict)", 2],
    ["len('')", 0],
    ["contains('abc', 'bc')", true],
    ["contains('abc', '')", true],
    ["contains('abc', 'cb')", false],
    ["contains(list, [3])", true],
    ["contains(list, 3)", false],
    ["contains(dict, 'a')", true],
    ["startsWith('abc', 'ab')", true],
    ["startsWith('abc', 'b')", false],
    ["endsWith('abc', 'bc')", true],
    ["endsWith('abc', 'b')", false],
    ["join(list)", "x,2,[3]"],
    ["join(['a', 'b'], ' + ')", "a + b"],
    ["join([], '-')", ""],
    ["split('a,b,,c', ',')", ["a", "b", "", "c"]],
    ["split('', ',')", [""]],
    ["split('a::b', '::')", ["a", "b"]],
    ['trim(" a\\n")', "a"],
    ["lower('ÄB')", "äb"],
    ["upper('äß')", "ÄSS"],
    ["replace('aXbX', 'X', '$&')", "a$&b$&"],
    ["replace('aaa', 'aa', 'b')", "ba"],
    ["replace('abc', 'x', 'y')", "abc"],
    ["keys(dict)", ["a", "b-c"]],
    ["values(dict)", [1, null]],
    ["toJson('a')", '"a"'],
    ["toJson(null)", "null"],
    ["toJson(dict)", '{"a":1,"b-c":null}'],
    ["fromJson('[1, {\"a\": null}]')", [1, { a: null }]],
    ["fromJson(toJson(dict)) == dict", true],
  ])("%s is %j", (expression, wanted) => {
    expect(value(expression)).toEqual(wanted);
  });

  test.each<[string, ExpressionErrorCode]>([
    ["get('text', 'a')", "TYPE_MISMATCH"],
    ["get(dict)", "WRONG_ARITY"],
    ["len(1)", "TYPE_MISMATCH"],
    ["contains('a', 1)", "TYPE_MISMATCH"],
    ["contains(1, 'a')", "TYPE_MISMATCH"],
    ["join('a')", "TYPE_MISMATCH"],
    ["join([null])", "NULL_IN_TEXT"],
    ["split('a', '')", "INVALID_ARGUMENT"],
    ["replace('a', '', 'b')", "INVALID_ARGUMENT"],
    ["trim(1)", "TYPE_MISMATCH"],
    ["keys(list)", "TYPE_MISMATCH"],
    ["values(null)", "TYPE_MISMATCH"],
    ["fromJson('{')", "INVALID_ARGUMENT"],
    ["fromJson('')", "INVALID_ARGUMENT"],
    ["fromJson('1e999')", "NUMBER_NOT_FINITE"],
  ])("%s: %s", (expression, code) => {
    expect(codeOf(expression)).toBe(code);
  });

  test("fromJson() keeps __proto__ as a key and never quotes the text in its error", () => {
    const object = value("fromJson('{\"__proto__\": 1}')") as object;
    expect(Object.keys(object)).toEqual(["__proto__"]);
    expect(() => expand("${{ fromJson(t) }}", createScope({ t: "hunter2" }))).toThrow(/^The text is not JSON$/);
  });

  test("every function is in the list that is documented", () => {
    expect(Object.keys(defaultFunctions).toSorted()).toEqual(
      [
        "bool contains endsWith fromJson get has join keys len lower num replace split startsWith str toJson trim upper",
        "values",
      ]
        .join(" ")
        .split(" "),
    );
  });
});

describe("bounds", () => {
  test.each<[string, ExpressionErrorCode]>([
    ["big + big + big + big + big + big + big", "TEXT_TOO_LARGE"],
    ["replace(big, 'a', '0123456789')", "TEXT_TOO_LARGE"],
    ["join([big, big, big, big, big, big, big])", "TEXT_TOO_LARGE"],
    ["toJson([big, big, big, big, big, big, big])", "TEXT_TOO_LARGE"],
    ["split(big, 'a')", "TEXT_TOO_LARGE"],
    [`[${"upper(big),".repeat(100)}]`, "TOO_MUCH_EFFORT"],
    [`[${"contains(big, 'b'),".repeat(200)}]`, "TOO_MUCH_EFFORT"],
  ])("%s: %s", (expression, code) => {
    expect(codeOf(expression)).toBe(code);
  });

  test("fromJson() refuses nesting before it parses", () => {
    const deep = createScope({ t: "[".repeat(5_000_000), u: `${"[".repeat(900)}${"]".repeat(900)}` });
    expect(() => expand("${{ fromJson(t) }}", deep)).toThrow(expect.objectContaining({ code: "VALUE_TOO_DEEP" }));
    expect(expand("${{ len(fromJson(u)) }}", deep)).toBe(1);
    expect(expand('${{ len(fromJson("[\\"[[[\\\\\\"]]]]\\"]")) }}', deep)).toBe(1);
  });

  test("a search takes linear time where the plain one takes the product", () => {
    const half = 4_000_000;
    const hostile = createScope({ text: "a".repeat(2 * half), part: `b${"a".repeat(half)}` });
    expect(expand("${{ contains(text, part) }}", hostile)).toBe(false);
    expect(expand("${{ contains('b' + text, part) }}", hostile)).toBe(true);
    expect(expand("${{ len(split('b' + text + 'b' + text, part)) }}", hostile)).toBe(3);
  });
});
