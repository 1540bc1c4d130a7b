import { describe, expect, test } from "vitest";
import { checkTemplate, createScope, escapeTemplate, expand, hasExpression, limits, parseTemplate } from "./index.ts";

const scope = createScope({ inputs: { a: 1, name: "Ada" } });

describe("text level (6.3)", () => {
  test.each([
    ["", ""],
    ["plain", "plain"],
    ["$ ${ $a ${a} }} {{ }", "$ ${ $a ${a} }} {{ }"],
    ["$[[ inputs.a ]]", "$[[ inputs.a ]]"],
    ["\\${{ inputs.a }}", "${{ inputs.a }}"],
    ["\\\\${{ x", "\\${{ x"],
    ["\\${{\\${{", "${{${{"],
    ["v_${{ 42 }}", "v_42"],
    ["${{ inputs.name }}${{ inputs.a }}", "Ada1"],
    ["${{ inputs.a }} }} ${{ inputs.a }}", "1 }} 1"],
    ["$${{ inputs.a }}", "$1"],
    ["${${{ inputs.a }}", "${1"],
    ['${{ "}}" }}.', "}}."],
    ["${{ '}}' }}.", "}}."],
    ["{${{ inputs.a }}}", "{1}"],
    ["${{inputs.name}}", "Ada"],
    ["${{\n\tinputs.name\r\n}}", "Ada"],
  ])("expand(%j) is %j", (text, value) => {
    expect(expand(text, scope)).toBe(value);
  });

  test("closing braces belong to the object as long as one is open", () => {
    expect(expand("${{ {a: {b: 1}}}}", scope)).toEqual({ a: { b: 1 } });
    expect(expand("${{ {a:{b:{}}}}}!", scope)).toBe('{"a":{"b":{}}}!');
  });
});

describe("Template", () => {
  test("says what a text is made of", () => {
    const shape = (text: string) => {
      const { isLiteral, isSingle, roots } = parseTemplate(text);
      return { isLiteral, isSingle, roots };
    };
    expect(shape("a \\${{ b }}")).toEqual({ isLiteral: true, isSingle: false, roots: [] });
    expect(shape("${{ inputs.a + env.b + inputs.c }}")).toEqual({
      isLiteral: false,
      isSingle: true,
      roots: ["inputs", "env"],
    });
    expect(shape(" ${{ len(x) }}\n")).toEqual({ isLiteral: false, isSingle: true, roots: ["x"] });
    expect(shape("a ${{ x }}")).toEqual({ isLiteral: false, isSingle: false, roots: ["x"] });
    expect(shape("${{ x }}${{ y }}")).toEqual({ isLiteral: false, isSingle: false, roots: ["x", "y"] });
  });

  test("names the roots inside strings, keys, indexes and arguments", () => {
    const text = '${{ [{(a): b}, "${{ c }}", get(d, e)[f], g.h] }}';
    expect(parseTemplate(text).roots).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
  });

  test("names for a hyphenated text only the root that both readings share", () => {
    expect(parseTemplate("${{ steps.hello-world.outputs.x }}").roots).toEqual(["steps"]);
    expect(parseTemplate("${{ steps.my step.x }}").roots).toEqual(["steps"]);
  });

  test("is remembered", () => {
    expect(parseTemplate("${{ inputs.a }} remembered")).toBe(parseTemplate("${{ inputs.a }} remembered"));
  });

  test("is forgotten when others have taken its place", () => {
    const first = parseTemplate("${{ inputs.a }} forgotten");
    for (let i = 0; i < 3000; i++) parseTemplate(`\${{ ${i} }}`);
    expect(parseTemplate("${{ inputs.a }} forgotten")).not.toBe(first);
    for (let i = 0; i < 40; i++) parseTemplate("x".repeat(16_000) + i);
    expect(parseTemplate("${{ 2999 }}")).toBe(parseTemplate("${{ 2999 }}"));
  });

  test("evaluates again and again with other values", () => {
    const template = parseTemplate("${{ n + 1 }}");
    let calls = 0;
    const counting = createScope({ n: () => ++calls });
    expect([template.evaluate(counting), template.evaluate(counting)]).toEqual([2, 3]);
    expect(calls).toBe(2);
  });
});

describe("hasExpression()", () => {
  test.each([
    ["", false],
    ["${ {", false],
    ["\\${{ a }}", false],
    ["\\${{ a }} ${{", true],
    ["${{", true],
    ["a${{ b }}", true],
  ])("of %j is %j", (text, wanted) => {
    expect(hasExpression(text)).toBe(wanted);
  });
});

describe("escapeTemplate()", () => {
  test.each(["", "a", "${{", "\\${{ a }}", "\\\\${{", "$${{{", "${{${{"])("of %j expands to the same", (text) => {
    const escaped = escapeTemplate(text);
    expect(hasExpression(escaped)).toBe(false);
    expect(expand(escaped, scope)).toBe(text);
  });
});

describe("checkTemplate()", () => {
  test("finds nothing wrong in a good text", () => {
    expect(checkTemplate("a ${{ b.c[0] }} \\${{")).toEqual([]);
  });

  test("reports all errors with their places", () => {
    const text = "${{ 1 + }} ${{ ok }} ${{ }} ${{ a = b }} ${{ 'x }}";
    const errors = checkTemplate(text);
    expect(errors.map(({ code, offset, length, expression }) => [code, offset, length, expression])).toEqual([
      ["UNEXPECTED_TOKEN", 8, 1, "${{ 1 + }}"],
      ["EMPTY_EXPRESSION", 21, 6, "${{ }}"],
      ["UNEXPECTED_CHARACTER", 34, 1, "${{ a = b }}"],
      ["UNTERMINATED_STRING", 45, 1, "${{ 'x }}"],
    ]);
  });

  test("stops after a hundred errors", () => {
    expect(checkTemplate("${{ }}".repeat(150))).toHaveLength(100);
  });

  test("refuses long texts only when they hold an expression", () => {
    const filler = "x".repeat(limits.maxSourceLength);
    expect(expand(filler, scope)).toBe(filler);
    expect(checkTemplate(filler)).toEqual([]);
    expect(checkTemplate(`${filler}\${{ inputs.a }}`).map((error) => error.code)).toEqual(["SOURCE_TOO_LARGE"]);
  });

  test.each([
    ["parentheses", "(".repeat(201), ")".repeat(201)],
    ["arrays", "[".repeat(201), "]".repeat(201)],
    ["objects", "{a:".repeat(201), "}".repeat(201)],
    ["calls", "f(".repeat(201), ")".repeat(201)],
    ["indexes", "a[".repeat(201), "]".repeat(201)],
    ["strings", '"${{ '.repeat(201), ' }}"'.repeat(201)],
    ["ten thousand parentheses", "(".repeat(10_000), ""],
  ])("refuses %s nested too deep", (_, left, right) => {
    expect(checkTemplate(`\${{ ${left}1${right} }}`).map((error) => error.code)).toEqual(["NESTING_TOO_DEEP"]);
  });

  test("allows the limits of nesting and of size, and evaluates what it allows", () => {
    expect(expand(`\${{ ${"(".repeat(200)}1${")".repeat(200)} }}`, scope)).toBe(1);
    expect(expand(`\${{ ${"1+".repeat(4990)}1 }}`, scope)).toBe(4991);
    expect(expand(`\${{ ${"!".repeat(9000)}1 }}`, scope)).toBe(true);
    expect(expand(`\${{ ${"'' || ".repeat(4990)}1 }}`, scope)).toBe(1);
    expect(checkTemplate(`\${{ ${"1+".repeat(5010)}1 }}`)[0]?.code).toBe("TOO_MANY_NODES");
    expect(checkTemplate(`\${{ [${"1,".repeat(10_001)}] }}`)[0]?.code).toBe("TOO_MANY_NODES");
    expect(checkTemplate("${{ a }}".repeat(10_001))[0]?.code).toBe("TOO_MANY_NODES");
  });

  test("reads a megabyte of near misses in one pass", () => {
    expect(checkTemplate(`\${{ a${" a".repeat(500_000)} !`).map((error) => error.code)).toEqual([
      "UNTERMINATED_EXPRESSION",
    ]);
    expect(checkTemplate(`\${{ a${"-".repeat(1_000_000)}`).map((error) => error.code)).toHaveLength(1);
    expect(checkTemplate(`${"${{ a b ".repeat(100_000)} }}`)).toHaveLength(1);
  });
});
