import { describe, expect, test } from "vitest";
import { createScope, expand, ExpressionError, type ExpressionErrorCode } from "./index.ts";

const scope = createScope({
  inputs: {
    name: "Ada",
    count: 3,
    on: true,
    off: false,
    none: null,
    list: [1, "two", { three: 3 }],
    map: { "a-b": 1, type: "t", c: { d: "deep" } },
  },
  env: { HOME: "/home/ada" },
});

const value = (expression: string): unknown => expand(`\${{ ${expression} }}`, scope);

function errorOf(text: string): ExpressionError {
  try {
    expand(text, scope);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error(`No error: ${text}`);
}

const codeOf = (expression: string): ExpressionErrorCode => errorOf(`\${{ ${expression} }}`).code;

describe("literals (6.5)", () => {
  test.each<[string, unknown]>([
    ["null", null],
    ["true", true],
    ["false", false],
    ["0", 0],
    ["007", 7],
    ["1.5", 1.5],
    ["1e3", 1000],
    ["1E+3", 1000],
    ["25e-1", 2.5],
    ["-1", -1],
    ["+1", 1],
    ['""', ""],
    ['"a\\\\\\"\\/\\n\\r\\t\\a\\b\\f\\v\\u0041"', 'a\\"/\n\r\t\u0007\b\f\vA'],
    ['"\\uD83D\\uDE00"', "😀"],
    ['"\\${{ x }}"', "${{ x }}"],
    ['"$ ${ }}"', "$ ${ }}"],
    ['"a\nb"', "a\nb"],
    ["''", ""],
    ["'it\\'s'", "it's"],
    ["'a\\\\b'", "a\\b"],
    ["'a\\nb'", "a\\nb"],
    ["'${{ x }}'", "${{ x }}"],
    ["[]", []],
    ["[1, 2,]", [1, 2]],
    ["[[1], {}]", [[1], {}]],
    ["{}", {}],
    ["{a: 1, \"b\": 2, 'c': 3, ('d' + 'e'): 4,}", { a: 1, b: 2, c: 3, de: 4 }],
    ["{for: 1, null: 2}", { for: 1, null: 2 }],
    ["{a: 1, a: 2}", { a: 2 }],
  ])("%s", (expression, wanted) => {
    expect(value(expression)).toEqual(wanted);
  });

  test("makes objects without a prototype, so that __proto__ is a key", () => {
    const object = value('{"__proto__": {x: 1}}') as object;
    expect(Object.getPrototypeOf(object)).toBeNull();
    expect(Object.keys(object)).toEqual(["__proto__"]);
    expect(codeOf("{}.constructor")).toBe("UNKNOWN_KEY");
    expect(codeOf("inputs.__proto__")).toBe("UNKNOWN_KEY");
    expect(codeOf("toString")).toBe("UNKNOWN_NAME");
    expect(codeOf("constructor()")).toBe("UNKNOWN_FUNCTION");
  });

  test("evaluates expressions inside double quotes", () => {
    expect(value('"Hi ${{ inputs.name }}, ${{ "${{ inputs.count + 1 }}" }}!"')).toBe("Hi Ada, 4!");
    expect(value('"${{ 42 }}"')).toBe("42");
    expect(value('"${{ {a: {b: 1}} }}"')).toBe('{"a":{"b":1}}');
    expect(value('{"k${{ 1 }}": 2}')).toEqual({ k1: 2 });
  });
});

describe("precedence (6.4)", () => {
  test.each<[string, unknown]>([
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["10 - 4 - 3", 3],
    ["100 / 10 / 2", 5],
    ["2 * 7 % 4", 2],
    ["-2 * -3", 6],
    ["- - 2", 2],
    ["-inputs.count + 1", -2],
    ["!inputs.on == false", true],
    ["!!1", true],
    ["1 + 1 == 2", true],
    ["1 < 2 == true", true],
    ["1 < 2 && 2 < 3", true],
    ["1 == 2 || 2 == 2", true],
    ["true || false && false", true],
    ["(true || false) && false", false],
    ["3 < 2 < 1", true],
    ["false && 1 || 2", 2],
    ["-[5][0]", -5],
    ["!inputs.map.c.d", false],
  ])("%s is %j", (expression, wanted) => {
    expect(value(expression)).toEqual(wanted);
  });
});

describe("operators (6.6)", () => {
  test.each<[string, unknown]>([
    ["'a' + 'b'", "ab"],
    ["7 % 3", 1],
    ["-7 % 3", -1],
    ["7 % -3", 1],
    ["5.5 % 2", 1.5],
    ["1 == '1'", false],
    ["1 != '1'", true],
    ["null == null", true],
    ["[1, {a: 2, b: 3}] == [1, {b: 3, a: 2}]", true],
    ["[1] == [1, 1]", false],
    ["{a: 1} == {b: 1}", false],
    ["0 == -0", true],
    ["'' || 'x'", "x"],
    ["0 || [] || {} || null || false", false],
    ["'a' && 2", 2],
    ["0 && missing", 0],
    ["1 || missing", 1],
    ["!''", true],
    ["![]", true],
    ["![0]", false],
    ["!{}", true],
    ["!null", true],
    ["!'0'", false],
    ["false < true", true],
    ["'a' < 'b'", true],
    ["'a' < 'aa'", true],
    ["'B' < 'a'", true],
    ["[1, 2] < [1, 3]", true],
    ["[1] < [1, 0]", true],
    ["[2] < [1, 0]", false],
    ["{b: 1} < {a: 1, b: 1}", true],
    ["{a: 9} < {b: 1}", true],
    ["{a: 1, b: 2} < {b: 3, a: 1}", true],
    ["null <= null", true],
    ["2 >= 2", true],
  ])("%s is %j", (expression, wanted) => {
    expect(value(expression)).toEqual(wanted);
  });

  test("orders kinds: null, boolean, number, string, array, object", () => {
    const kinds = ["null", "true", "0", "''", "[]", "{}"];
    for (const [i, a] of kinds.entries()) {
      for (const [j, b] of kinds.entries()) expect([a, b, value(`${a} < ${b}`)]).toEqual([a, b, i < j]);
    }
  });

  test("compares strings by their UTF-8 bytes, not by UTF-16 units", () => {
    expect(value("'\u{FF5E}' < '\u{1F600}'")).toBe(true);
    expect(value("'\u{1F600}' < '\u{1F601}'")).toBe(true);
    expect(value("'\u{1F600}' > 'z'")).toBe(true);
  });
});

describe("access (6.7)", () => {
  test.each<[string, unknown]>([
    ["inputs.map.c.d", "deep"],
    ['inputs["map"]["c"].d', "deep"],
    ['inputs.map["a-b"]', 1],
    ["inputs.map.type", "t"],
    ["inputs.list[2].three", 3],
    ["inputs.list[inputs.count - 2]", "two"],
    ["{null: 1}.null", 1],
    ["inputs . list [ 0 ]", 1],
    ["(inputs.none || {a: 1}).a", 1],
  ])("%s is %j", (expression, wanted) => {
    expect(value(expression)).toEqual(wanted);
  });

  test("names what is missing and what there is", () => {
    const error = errorOf("x ${{ inputs.map.typ }}");
    expect(error).toMatchObject({
      code: "UNKNOWN_KEY",
      message: 'Unknown key "typ" in "inputs.map"',
      hint: 'Did you mean "type"? Known keys: a-b, type, c',
      offset: 16,
      length: 4,
      expression: "${{ inputs.map.typ }}",
    });
    expect(errorOf("${{ imputs.a }}")).toMatchObject({
      message: 'Unknown name "imputs"',
      hint: 'Did you mean "inputs"? Known names: inputs, env',
      offset: 4,
      length: 6,
    });
    expect(errorOf("${{ inputs.none.x }}").message).toBe('Cannot read "x": "inputs.none" is null');
  });
});

describe("errors (6.10)", () => {
  test.each<[string, ExpressionErrorCode]>([
    ["a ${{ 1", "UNTERMINATED_EXPRESSION"],
    ["${{", "UNTERMINATED_EXPRESSION"],
    ["${{ 1 }", "UNTERMINATED_EXPRESSION"],
    ["${{ }}", "EMPTY_EXPRESSION"],
    ["${{}}", "EMPTY_EXPRESSION"],
    ['${{ "a ${{ }} b" }}', "EMPTY_EXPRESSION"],
    ["${{ 1 } }", "UNTERMINATED_EXPRESSION"],
    ["${{ 1 } } }}", "UNEXPECTED_TOKEN"],
  ])("%j: %s", (text, code) => {
    expect(errorOf(text).code).toBe(code);
  });

  test.each<[string, ExpressionErrorCode]>([
    ["1 2", "UNEXPECTED_TOKEN"],
    ["1 +", "UNEXPECTED_TOKEN"],
    ["* 1", "UNEXPECTED_TOKEN"],
    ["(1", "UNEXPECTED_TOKEN"],
    ["[1 2]", "UNEXPECTED_TOKEN"],
    ["[,]", "UNEXPECTED_TOKEN"],
    ["{a}", "UNEXPECTED_TOKEN"],
    ["{a: 1 b: 2}", "UNEXPECTED_TOKEN"],
    ["inputs.", "UNEXPECTED_TOKEN"],
    ["inputs.1", "UNEXPECTED_TOKEN"],
    ["inputs[]", "UNEXPECTED_TOKEN"],
    ["len(1", "UNEXPECTED_TOKEN"],
    ["a ? b : c", "UNEXPECTED_CHARACTER"],
    ["a = b", "UNEXPECTED_CHARACTER"],
    ["a & b", "UNEXPECTED_CHARACTER"],
    ["a | b", "UNEXPECTED_CHARACTER"],
    ["é", "UNEXPECTED_CHARACTER"],
    ["1\u00a0+ 1", "UNEXPECTED_CHARACTER"],
    ["${{ 1 }}", "UNEXPECTED_CHARACTER"],
    ['"a', "UNTERMINATED_STRING"],
    ["'a", "UNTERMINATED_STRING"],
    ['"\\x"', "BAD_ESCAPE"],
    ['"\\$"', "BAD_ESCAPE"],
    ['"\\u12g4"', "BAD_ESCAPE"],
    ['"\\\'"', "BAD_ESCAPE"],
    ["1.", "BAD_NUMBER"],
    ["1.x", "BAD_NUMBER"],
    ["1e", "BAD_NUMBER"],
    ["1e+", "BAD_NUMBER"],
    ["12ab", "BAD_NUMBER"],
    ["1e999", "BAD_NUMBER"],
    ["if", "RESERVED_WORD"],
    ["string + 1", "RESERVED_WORD"],
    ["inputs.f()", "NOT_CALLABLE"],
    ["(len)('a')", "NOT_CALLABLE"],
    ["len('a')(1)", "NOT_CALLABLE"],
    ["missing", "UNKNOWN_NAME"],
    ["len", "UNKNOWN_NAME"],
    ["missing(1)", "UNKNOWN_FUNCTION"],
    ["inputs.missing", "UNKNOWN_KEY"],
    ['inputs["missing"]', "UNKNOWN_KEY"],
    ["inputs.none.x", "ACCESS_ON_NULL"],
    ["inputs.none[0]", "ACCESS_ON_NULL"],
    ["inputs.name.length", "TYPE_MISMATCH"],
    ["inputs.name[0]", "TYPE_MISMATCH"],
    ["inputs.list.length", "INVALID_INDEX"],
    ["inputs.list['0']", "INVALID_INDEX"],
    ["inputs.list[0.5]", "INVALID_INDEX"],
    ["inputs.list[-1]", "INDEX_OUT_OF_RANGE"],
    ["inputs.list[3]", "INDEX_OUT_OF_RANGE"],
    ["inputs.map[1]", "INVALID_KEY"],
    ["{1: 2}", "INVALID_KEY"],
    ["{(1): 2}", "INVALID_KEY"],
    ["{(null): 2}", "INVALID_KEY"],
    ['1 + "a"', "TYPE_MISMATCH"],
    ['"hello" + 42', "TYPE_MISMATCH"],
    ["'a' - 'b'", "TYPE_MISMATCH"],
    ["true + true", "TYPE_MISMATCH"],
    ["[1] + [2]", "TYPE_MISMATCH"],
    ["null * 1", "TYPE_MISMATCH"],
    ['-"a"', "TYPE_MISMATCH"],
    ["+true", "TYPE_MISMATCH"],
    ["-!1", "TYPE_MISMATCH"],
    ["10 % 0", "DIVISION_BY_ZERO"],
    ["1 / 0", "DIVISION_BY_ZERO"],
    ["0 / -0", "DIVISION_BY_ZERO"],
    ["1e308 * 10", "NUMBER_NOT_FINITE"],
    ["1e308 + 1e308", "NUMBER_NOT_FINITE"],
    ['"a${{ null }}"', "NULL_IN_TEXT"],
  ])("%s: %s", (expression, code) => {
    expect(codeOf(expression)).toBe(code);
  });

  test("points at the part that failed, also inside a nested string", () => {
    const text = 'a ${{ "b ${{ 1 + inputs.list }}" }}';
    expect(errorOf(text)).toMatchObject({
      offset: text.indexOf("1 +"),
      length: "1 + inputs.list".length,
      expression: text.slice(2),
    });
  });
});
