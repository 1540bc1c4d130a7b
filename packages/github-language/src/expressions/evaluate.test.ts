import { isStepsError, type Value } from "@steps/model";
import { describe, expect, test } from "vitest";
import { GithubExpressionError } from "./error.ts";
import { evaluateTemplate, evaluateText } from "./evaluate.ts";
import type { EvaluateOptions } from "./evaluation.ts";
import { contexts } from "../../test/contexts.ts";

describe("texts", () => {
  test.each([
    ["no expression", "no expression"],
    ["", ""],
    ["}} {{ $ {", "}} {{ $ {"],
    ["a ${{ 1 }} b", "a 1 b"],
    ["${{ 'a' }}${{ 'b' }}", "ab"],
    [" ${{ 1 }}", " 1"],
    ["${{ 1 }}\n", "1\n"],
    ["x${{ null }}y", "xy"],
    ["x${{ true }}y", "xtruey"],
    ["x${{ matrix.list }}y", "xArrayy"],
    ["${{ '}}' }}", "}}"],
    ["a${{ 'it''s }} here' }}b", "ait's }} hereb"],
    ["${{ '${{' }} x }}", "${{ x }}"],
    ["$${{ 1 }}", "$1"],
    ["${{1}}}", "1}"],
    ["${{\n  github.ref\n}}!", "refs/heads/main!"],
    ["${{\u00a0github.ref\u2003==\f'refs/heads/main'\u00a0}}?", "true?"],
    ["${{ 'a\u00a0b' }}?", "a\u00a0b?"],
  ])("%j", (text, value) => {
    expect(evaluateText(text, { contexts })).toBe(value);
  });

  test("gives the text of a single expression", () => {
    expect(evaluateText("${{ matrix.obj }}", { contexts })).toBe("Object");
    expect(evaluateText("${{ null }}", { contexts })).toBe("");
  });

  test("never looks at a value for expressions", () => {
    const inputs = { evil: "${{ github.token }}", half: "${{" };
    const options = { contexts: { inputs, github: { token: "t0ken" } } };
    expect(evaluateText("<${{ inputs.evil }}>", options)).toBe("<${{ github.token }}>");
    expect(evaluateTemplate("${{ inputs.evil }}", options)).toBe("${{ github.token }}");
    expect(evaluateText("${{ inputs.half }} github.token }}", options)).toBe("${{ github.token }}");
    expect(evaluateText("${{ format('{0}', '{0}') }}", options)).toBe("{0}");
  });
});

describe("contexts", () => {
  test("makes a lazy one when it is named, once for a set", () => {
    let calls = 0;
    const lazy = { github: () => ({ n: ++calls }), inputs: { a: 1 } };
    expect(evaluateTemplate("${{ inputs.a }}", { contexts: lazy })).toBe(1);
    expect(calls).toBe(0);
    expect(evaluateText("${{ github.n }}${{ GITHUB.n }}", { contexts: lazy })).toBe("11");
    expect(evaluateTemplate("${{ github.n }}", { contexts: lazy })).toBe(1);
    expect(evaluateTemplate("${{ github.n }}", { contexts: { ...lazy } })).toBe(2);
  });

  test("does not make one that is not reached", () => {
    const lazy = {
      github: (): Value => {
        throw new Error("made");
      },
    };
    expect(evaluateTemplate("${{ false && github.x }}", { contexts: lazy })).toBe(false);
    expect(() => evaluateTemplate("${{ true && github.x }}", { contexts: lazy })).toThrow(
      'Cannot read the context "github": made',
    );
  });

  test("takes a declared one without a value for null", () => {
    const options = {
      contexts: { matrix: null, needs: undefined as unknown as Value, jobs: () => undefined as unknown as Value },
    };
    for (const name of ["matrix", "needs", "jobs"]) {
      expect(evaluateTemplate(`\${{ ${name} }}`, options)).toBe(null);
      expect(evaluateTemplate(`\${{ ${name}.a.b }}`, options)).toBe(null);
      expect(evaluateTemplate(`\${{ ${name}.* }}`, options)).toEqual([]);
      expect(evaluateTemplate(`\${{ toJSON(${name}) }}`, options)).toBe("null");
    }
  });

  test("takes unsafe names for ordinary keys", () => {
    const inputs = JSON.parse('{"__proto__": "p", "CONSTRUCTOR": "c", "toString": "s"}') as Value;
    const options = { contexts: { inputs, env: {} } };
    expect(evaluateTemplate("${{ inputs.__proto__ }}", options)).toBe("p");
    expect(evaluateTemplate("${{ inputs.__PROTO__ }}", options)).toBe("p");
    expect(evaluateTemplate("${{ inputs.constructor }}", options)).toBe("c");
    expect(evaluateTemplate("${{ inputs.tostring }}", options)).toBe("s");
    expect(evaluateTemplate("${{ env.constructor }}", options)).toBe(null);
    expect(evaluateTemplate("${{ env.__proto__ }}", options)).toBe(null);
    expect(evaluateTemplate("${{ env.hasOwnProperty }}", options)).toBe(null);
    const text = '{"__proto__":{"x":1},"constructor":2}';
    expect(evaluateTemplate(`\${{ fromJSON('${text}').__proto__.x }}`, options)).toBe(1);
    expect(evaluateTemplate(`\${{ fromJSON('${text}').x }}`, options)).toBe(null);
    expect(evaluateTemplate(`\${{ toJSON(fromJSON('${text}')) }}`, options)).toContain('"__proto__": {');
    expect(codeOf("${{ __proto__.x }}", options)).toBe("UNKNOWN_NAME");
    expect(codeOf("${{ constructor('x') }}", options)).toBe("UNKNOWN_FUNCTION");
    expect(codeOf("${{ __proto__() }}", options)).toBe("UNKNOWN_FUNCTION");
  });

  test("takes the first of keys that differ in case, and the exact one before it", () => {
    const options = { contexts: { inputs: { Foo: 1, FOO: 2 } } };
    expect(evaluateTemplate("${{ inputs.foo }}", options)).toBe(1);
    expect(evaluateTemplate("${{ inputs.FOO }}", options)).toBe(2);
  });

  test("hands arrays and objects out as they are", () => {
    expect(evaluateTemplate("${{ matrix.obj }}", { contexts })).toBe(contexts.matrix.obj);
  });
});

describe("functions of a place", () => {
  const status = { isSuccess: false, isFailure: true, isCancelled: false };

  test("has those of status with a status", () => {
    expect(evaluateTemplate("${{ success() }}", { contexts, status })).toBe(false);
    expect(evaluateTemplate("${{ Failure() }}", { contexts, status })).toBe(true);
    expect(evaluateTemplate("${{ cancelled() }}", { contexts, status })).toBe(false);
    expect(evaluateTemplate("${{ always() }}", { contexts, status })).toBe(true);
    expect(codeOf("${{ always() }}", { contexts })).toBe("FUNCTION_NOT_AVAILABLE");
  });

  test("has hashFiles with a hashFiles", () => {
    const hashFiles = (patterns: readonly string[]): string => patterns.join("|");
    expect(evaluateTemplate("${{ hashFiles('a', 1, null) }}", { contexts, hashFiles })).toBe("a|1|");
    expect(codeOf("${{ hashFiles('a') }}", { contexts, status })).toBe("FUNCTION_NOT_AVAILABLE");
    const failing = (): string => {
      throw new Error("120 s are over");
    };
    expect(() => evaluateTemplate("${{ hashFiles('a') }}", { contexts, hashFiles: failing })).toThrow(
      "Cannot hash the files: 120 s are over",
    );
  });
});

describe("errors", () => {
  test.each<[text: string, code: string, place: string]>([
    ["${{ 1 +", "UNTERMINATED_EXPRESSION", "${{"],
    ["a ${{ 'x }}", "UNTERMINATED_EXPRESSION", "${{"],
    ["a ${{ 1 }} ${{", "UNTERMINATED_EXPRESSION", "${{"],
    ["${{}}", "EMPTY_EXPRESSION", ""],
    ["${{ \n }}", "EMPTY_EXPRESSION", " \n "],
    ["x ${{ 1 + 2 }}", "UNEXPECTED_SYMBOL", "+"],
    ["x ${{ 1 * 2 }}", "UNEXPECTED_SYMBOL", "*"],
    ['x ${{ "a" }}', "UNEXPECTED_SYMBOL", '"a"'],
    ["x ${{ github.ref == main' }} '}}", "UNEXPECTED_SYMBOL", "main'"],
    ["x ${{ github.ref = 'a' }}", "UNEXPECTED_SYMBOL", "="],
    ["x ${{ github.ref & 'a' }}", "UNEXPECTED_SYMBOL", "&"],
    ["x ${{ github.ref | 'a' }}", "UNEXPECTED_SYMBOL", "|"],
    ["x ${{ 0b11 }}", "UNEXPECTED_SYMBOL", "0b11"],
    ["x ${{ 0X1F }}", "UNEXPECTED_SYMBOL", "0X1F"],
    ["x ${{ 0x100000000 }}", "UNEXPECTED_SYMBOL", "0x100000000"],
    ["x ${{ 1.2.3 }}", "UNEXPECTED_SYMBOL", "1.2.3"],
    ["x ${{ github.ref github.sha }}", "UNEXPECTED_SYMBOL", "github"],
    ["x ${{ contains('a', 'b',) }}", "UNEXPECTED_SYMBOL", ")"],
    ["x ${{ contains('a' 'b') }}", "UNEXPECTED_SYMBOL", "'b'"],
    ["x ${{ (1, 2) }}", "UNEXPECTED_SYMBOL", ","],
    ["x ${{ github. }}", "UNEXPECTED_END", ""],
    ["x ${{ github.1 }}", "UNEXPECTED_SYMBOL", "1"],
    ["x ${{ 'a'.b }}", "UNEXPECTED_SYMBOL", ".b"],
    ["x ${{ * }}", "UNEXPECTED_SYMBOL", "*"],
    ["x ${{ ) }}", "UNEXPECTED_SYMBOL", ")"],
    ["x ${{ == 1 }}", "UNEXPECTED_SYMBOL", "=="],
    ["x ${{ (1 }}", "UNEXPECTED_END", ""],
    ["x ${{ 1 == }}", "UNEXPECTED_END", ""],
    ["x ${{ contains(1 }}", "UNEXPECTED_END", ""],
    ["x ${{ github['ref' }}", "UNEXPECTED_END", ""],
    ["x ${{ ! }}", "UNEXPECTED_END", ""],
    ["x ${{ 'a\nb' == nope }}", "UNKNOWN_NAME", "nope"],
    ["x ${{\n\n  gihub.ref }}", "UNKNOWN_NAME", "gihub"],
    ["x ${{ true || secrets.A }}", "NAME_NOT_AVAILABLE", "secrets"],
    ["x ${{ foo() }}", "UNKNOWN_FUNCTION", "foo"],
    ["x ${{ contains('a') }}", "WRONG_ARITY", "contains"],
    ["x ${{ toJSON() }}", "WRONG_ARITY", "toJSON"],
    ["x ${{ join(1, 2, 3) }}", "WRONG_ARITY", "join"],
    ["x ${{ case(true, 1) }}", "WRONG_ARITY", "case"],
    ["x ${{ case(true, 1, false, 2) }}", "WRONG_ARITY", "case"],
    ["x ${{ case('true', 1, 2) }}", "INVALID_ARGUMENT", "case"],
    ["x ${{ case(1, 1, 2) }}", "INVALID_ARGUMENT", "case"],
    ["x ${{ fromJSON('') }}", "INVALID_ARGUMENT", "fromJSON"],
    ["x ${{ fromJSON(null) }}", "INVALID_ARGUMENT", "fromJSON"],
    ["x ${{ 1 == fromJSON('{a}') }}", "INVALID_ARGUMENT", "fromJSON"],
    ["x ${{ format('{0}') }}", "INVALID_ARGUMENT", "format"],
    ["x ${{ format('{1}', 1) }}", "INVALID_ARGUMENT", "format"],
    ["x ${{ format('{256}', 1) }}", "INVALID_ARGUMENT", "format"],
    ["x ${{ format('{0', 1) }}", "INVALID_ARGUMENT", "format"],
    ["x ${{ format('0}', 1) }}", "INVALID_ARGUMENT", "format"],
    ["x ${{ format('{}', 1) }}", "INVALID_ARGUMENT", "format"],
    ["x ${{ format('{ 0 }', 1) }}", "INVALID_ARGUMENT", "format"],
    ["x ${{ format('{0:x}', 1) }}", "INVALID_ARGUMENT", "format"],
    ["x ${{ format('{0a}', 1) }}", "INVALID_ARGUMENT", "format"],
    ["x ${{ toJSON(format('{', 1)) }}", "INVALID_ARGUMENT", "format"],
  ])("%j is %s", (text, code, place) => {
    const error = errorOf(text, { contexts });
    expect(isStepsError(error, code)).toBe(true);
    expect(text.slice(error.offset, error.offset + error.length)).toBe(place);
    expect(error.message.length).toBeLessThan(200);
  });

  test("says what is available", () => {
    expect(errorOf("${{ secrets.A }}", { contexts: { github: {}, env: {} } })).toMatchObject({
      message: 'The context "secrets" is not available here',
      hint: "Available here: github, env",
    });
    expect(errorOf("${{ giithub.A }}", { contexts: { github: {} } }).hint).toBe(
      'Did you mean "github"? Available here: github',
    );
    expect(errorOf("${{ stratsWith('a', 'b') }}", { contexts }).hint).toBe('Did you mean "startsWith"?');
    expect(errorOf('${{ "a" }}', { contexts }).hint).toBe("Strings are written in single quotes");
  });

  test("keeps the text of an expression short", () => {
    const error = errorOf(`\${{ nope || '${"x".repeat(10_000)}' }}`, { contexts });
    expect(error.expression.length).toBe(200);
    expect(error.message).toBe('There is no context "nope"');
  });

  test("shows no value", () => {
    const options = { contexts: { secrets: { A: "s3cret{" } } };
    for (const text of ["${{ fromJSON(secrets.A) }}", "${{ format(secrets.A) }}", "${{ case(secrets.A, 1, 2) }}"]) {
      expect(JSON.stringify(errorOf(text, options)) + errorOf(text, options).message).not.toContain("s3cret");
    }
  });
});

function errorOf(text: string, options: EvaluateOptions): GithubExpressionError {
  try {
    evaluateTemplate(text, options);
  } catch (error) {
    if (error instanceof GithubExpressionError) return error;
    throw error;
  }
  throw new Error(`No error: ${text}`);
}

function codeOf(text: string, options: EvaluateOptions): string {
  return errorOf(text, options).code;
}
