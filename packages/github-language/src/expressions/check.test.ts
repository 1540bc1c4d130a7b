import { describe, expect, test } from "vitest";
import { checkCondition, checkTemplate, type ExpressionProblem } from "./check.ts";
import { CONTEXTS_OF, type ExpressionPlace } from "./contexts-of.ts";
import { CONTEXT_NAMES } from "./names.ts";

const run = CONTEXTS_OF["composite-step-run"];

function summary(text: string, problems: readonly ExpressionProblem[]): string[] {
  return problems.map(({ code, offset, length }) => `${code} ${text.slice(offset, offset + length)}`);
}

describe("templates", () => {
  test.each(["", "plain", "a }} b", "${{ inputs.a }} ${{ github.ref == 'x' && hashFiles('a') }}", "${{ ENV.x }}"])(
    "finds nothing in %j",
    (text) => {
      expect(checkTemplate(text, run)).toEqual([]);
    },
  );

  test("finds all problems, in order", () => {
    const text = "${{ foo.x && secrets.A || bar() }} ok ${{ 1 + 2 }} ${{ contains('a') && needs.a }} ${{ }} ${{ 'x";
    expect(summary(text, checkTemplate(text, run))).toEqual([
      "UNKNOWN_NAME foo",
      "NAME_NOT_AVAILABLE secrets",
      "UNKNOWN_FUNCTION bar",
      "UNEXPECTED_SYMBOL +",
      "WRONG_ARITY contains",
      "NAME_NOT_AVAILABLE needs",
      "EMPTY_EXPRESSION  ",
      "UNTERMINATED_EXPRESSION ${{",
    ]);
  });

  test("finds names where no value would be needed", () => {
    const text = "${{ true || case(true, 1, github[secrets.A].*[nope]) }}";
    expect(summary(text, checkTemplate(text, run))).toEqual(["NAME_NOT_AVAILABLE secrets", "UNKNOWN_NAME nope"]);
  });

  test("gives hints", () => {
    expect(checkTemplate("${{ input.a }}", run)[0]?.hint).toMatch(/^Did you mean "inputs"\? Available here: github/);
    expect(checkTemplate("${{ startWith('a', 'b') }}", run)[0]?.hint).toBe('Did you mean "startsWith"?');
    expect(checkTemplate("${{ success() }}", run)[0]).toEqual({
      severity: "error",
      code: "FUNCTION_NOT_AVAILABLE",
      message: 'The function "success" is not available here',
      offset: 4,
      length: 7,
      hint: 'Status functions are available only in "if"',
    });
    expect(checkTemplate("${{ vars.a }}", { contexts: [] })[0]?.hint).toBe("No context is available here");
    expect(checkTemplate("${{ github.ref }}", CONTEXTS_OF["docker-args"])[0]?.message).toBe(
      'The context "github" is not available here',
    );
  });

  test("finds expressions that are too long or too deep", () => {
    const long = `\${{ '${"x".repeat(21_000)}' }}`;
    expect(checkTemplate(long, run)).toMatchObject([{ code: "EXPRESSION_TOO_LONG", offset: 3, length: 21_004 }]);
    const deep = `\${{ ${"!".repeat(60)}1 }}`;
    expect(checkTemplate(deep, run)).toMatchObject([{ code: "EXPRESSION_TOO_DEEP" }]);
  });
});

describe("conditions", () => {
  test.each(["", "always()", "${{ failure() }}", "inputs.a == 'x'", "!cancelled() && hashFiles('a')"])(
    "finds nothing in %j",
    (text) => {
      expect(checkCondition(text, CONTEXTS_OF["composite-step-if"])).toEqual([]);
    },
  );

  test("knows the status functions without being told", () => {
    expect(checkCondition("always()", { contexts: [] })).toEqual([]);
    expect(checkCondition("hashFiles('a')", { contexts: [] })).toMatchObject([{ code: "FUNCTION_NOT_AVAILABLE" }]);
    expect(checkCondition("always()", { contexts: [], functions: [] })).toMatchObject([
      { code: "FUNCTION_NOT_AVAILABLE" },
    ]);
  });

  test("finds problems without braces", () => {
    const text = "secrets.A == 'x' && foo(";
    expect(summary(text, checkCondition(text, CONTEXTS_OF["step-if"]))).toEqual(["UNEXPECTED_END "]);
    const other = "secrets.A != '' && nope";
    expect(summary(other, checkCondition(other, CONTEXTS_OF["step-if"]))).toEqual([
      "NAME_NOT_AVAILABLE secrets",
      "UNKNOWN_NAME nope",
    ]);
  });

  test.each([
    ["github.ref == ${{ github.sha }}", "github.ref == "],
    ["${{ inputs.a }} == 'x'", " == 'x'"],
    ["${{ inputs.a }} && ${{ inputs.b }}", " && "],
    ["${{ inputs.a }}\n", "\n"],
  ])("warns of %j", (text, place) => {
    const problems = checkCondition(text, CONTEXTS_OF["composite-step-if"]);
    expect(summary(text, problems)).toEqual([`ALWAYS_TRUE ${place}`]);
    expect(problems[0]).toMatchObject({ severity: "warning", hint: expect.stringContaining("one ${{ }}") as string });
  });

  test("warns besides what is wrong", () => {
    const text = "x ${{ nope }}";
    expect(summary(text, checkCondition(text, run))).toEqual(["UNKNOWN_NAME nope", "ALWAYS_TRUE x "]);
    expect(summary("x ${{ nope", checkCondition("x ${{ nope", run))).toEqual(["UNTERMINATED_EXPRESSION ${{"]);
  });
});

describe("places", () => {
  const places = Object.entries(CONTEXTS_OF) as [ExpressionPlace, (typeof CONTEXTS_OF)[ExpressionPlace]][];

  test.each(places)("%s names what exists, once", (_, { contexts, functions }) => {
    expect(CONTEXT_NAMES).toEqual(expect.arrayContaining([...contexts]));
    expect(["hashFiles", "success", "failure", "always", "cancelled"]).toEqual(expect.arrayContaining([...functions]));
    expect(new Set(contexts).size).toBe(contexts.length);
    expect(new Set(functions).size).toBe(functions.length);
  });

  test("keeps what belongs to workflows out of actions", () => {
    for (const [place, { contexts }] of places) {
      if (!/^(composite|input|docker|pre|post)-/.test(place)) continue;
      for (const name of ["secrets", "vars", "needs", "jobs"]) expect(contexts).not.toContain(name);
    }
  });

  test("has status functions in conditions only", () => {
    for (const [place, { functions }] of places)
      expect([place, functions.includes("always")]).toEqual([place, /(^|-)if$/.test(place)]);
  });

  test.each<[ExpressionPlace, string, boolean]>([
    ["input-default", "${{ github.token }}", true],
    ["input-default", "${{ hashFiles('a') }}", true],
    ["input-default", "${{ inputs.a }}", false],
    ["input-default", "${{ env.a }}", false],
    ["input-default", "${{ steps.a }}", false],
    ["composite-output", "${{ steps.a.outputs.b }}", true],
    ["composite-output", "${{ hashFiles('a') }}", false],
    ["composite-step-if", "${{ inputs.a && always() }}", true],
    ["composite-step-with", "${{ matrix.a }}", true],
    ["composite-step-with", "${{ secrets.a }}", false],
    ["docker-env", "${{ inputs.a }}", true],
    ["docker-env", "${{ github.ref }}", false],
    ["post-if", "${{ success() && env.X != 'true' }}", true],
    ["post-if", "${{ steps.a }}", false],
    ["pre-if", "${{ runner.os == 'Linux' }}", true],
    ["job-if", "${{ needs.a.result == 'success' && always() }}", true],
    ["job-if", "${{ matrix.a }}", false],
    ["job-if", "${{ hashFiles('a') }}", false],
    ["job-outputs", "${{ steps.a.outputs.b }}", true],
    ["job-env", "${{ secrets.a }}", true],
    ["job-env", "${{ env.a }}", false],
    ["job-strategy", "${{ fromJSON(needs.a.outputs.m) }}", true],
    ["job-strategy", "${{ matrix.a }}", false],
    ["step-if", "${{ secrets.a }}", false],
    ["step-run", "${{ secrets.a }}", true],
    ["step-shell", "${{ matrix.shell }}", false],
    ["workflow-call-output", "${{ jobs.a.outputs.b }}", true],
  ])("%s: %s", (place, text, isFine) => {
    expect(checkTemplate(text, CONTEXTS_OF[place]).length === 0).toBe(isFine);
  });
});
