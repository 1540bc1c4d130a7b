import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
import type { ExpressionData } from "@actions/expressions/data/expressiondata";
import type { Value } from "@steps/model";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { evaluateTemplate } from "./evaluate.ts";

const contexts = {
  github: { ref: "refs/heads/main", n: 3, list: [1, "two", null, true], Deep: { a: { b: "x" }, c: { B: "y" } } },
  inputs: { a: "A", empty: "", one: "1", list: [[1], [2, 3], { a: "in" }], nothing: null, yes: true },
};

// GitHub's own evaluator, with what it is right about: ASCII texts, short numbers, no quotes. `number.ts`, `operators.ts` and
// `functions.ts` differ where the runner does.
function evaluateByGithub(expression: string): unknown {
  const tree = new Parser(new Lexer(expression).lex().tokens, ["github", "inputs"], []).parse();
  const dictionary = JSON.parse(JSON.stringify(contexts), data.reviver) as data.Dictionary;
  return plain(new Evaluator(tree, dictionary).evaluate());
}

function plain(value: ExpressionData): unknown {
  if (value instanceof data.NumberData) return value.value === 0 ? 0 : value.value;
  return JSON.parse(JSON.stringify(value, data.replacer)) as unknown;
}

const literal = fc.constantFrom(
  ..."null true false 0 1 2 3 -1 0.5 NaN Infinity '' '0' '1' 'a' 'A' 'x' 'two' '[1,2]' '{0}-{1}' ' 1 ' '0x3' ','".split(
    " ",
  ),
);
const access = fc
  .tuple(
    fc.constantFrom("github", "inputs", "github.deep", "github.list", "inputs.list"),
    fc.array(fc.constantFrom(".ref", ".n", ".a", ".B", ".list", ".*", "[0]", "[1]", "['A']", "[null]", "[*]"), {
      maxLength: 4,
    }),
  )
  .map(([context, keys]) => context + keys.join(""));

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, depthIdentifier: "expression" },
    literal,
    access,
    fc
      .tuple(tie("expression"), fc.constantFrom("==", "!=", "<", "<=", ">", ">=", "&&", "||"), tie("expression"))
      .map(([left, operator, right]) => `${left} ${operator} ${right}`),
    tie("expression").map((inner) => `(${inner})`),
    tie("expression").map((inner) => `!(${inner})`),
    fc.tuple(tie("expression"), tie("expression")).map(([array, key]) => `(${array})[${key}]`),
    fc
      .tuple(
        fc.constantFrom("contains", "startsWith", "endsWith", "join", "format"),
        tie("expression"),
        tie("expression"),
      )
      .map(([name, a, b]) => `${name}(${a}, ${b})`),
    fc.tuple(fc.constantFrom("toJSON", "fromJSON", "join"), tie("expression")).map(([name, a]) => `${name}(${a})`),
    fc
      .tuple(tie("expression"), tie("expression"), tie("expression"))
      .map(([a, b, c]) => `case((${a}) == (${b}), ${b}, ${c})`),
  ),
}));

test("gives what GitHub's own evaluator gives", () => {
  let compared = 0;
  fc.assert(
    fc.property(expression, (text) => {
      let expected: unknown;
      try {
        expected = evaluateByGithub(text);
      } catch {
        // An expression that the reference refuses, for instance in the arguments of a `case` that is not taken, need
        // not be refused here.
        return;
      }
      // The runner writes them as they are, GitHub's other evaluator as null.
      if (/toJSON/.test(text) && /NaN|Infinity/.test(text)) return;
      compared++;
      const value = evaluateTemplate(`\${{ ${text} }}`, { contexts });
      expect(Object.is(value, -0) ? 0 : value).toEqual(expected);
    }),
    { numRuns: 3000 },
  );
  expect(compared).toBeGreaterThan(1000);
});

test("gives one value or one of its own errors for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), expression, (noise, text) => {
      for (const source of [noise, `\${{ ${noise} }}`, `\${{ ${text} ${noise} }}`, `${noise}\${{ ${text} }}`]) {
        try {
          const value: Value = evaluateTemplate(source, { contexts });
          expect(value).not.toBe(undefined);
        } catch (error) {
          expect(error).toHaveProperty("name", "GithubExpressionError");
          const { offset, length } = error as { offset: number; length: number };
          expect(offset).toBeGreaterThanOrEqual(0);
          expect(offset + length).toBeLessThanOrEqual(source.length);
        }
      }
    }),
    { numRuns: 1000 },
  );
});

const anyValue = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Value>;

test("reads back what it writes as JSON", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        anyValue.filter((value) => !/e[-+]|\d[\d.]{14}/.test(JSON.stringify(value)) && !hasCaseTwins(value)),
        fc.string({ unit: "binary" }),
      ),
      (value) => {
        const read = evaluateTemplate("${{ fromJSON(toJSON(inputs.value)) }}", { contexts: { inputs: { value } } });
        expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(value)));
      },
    ),
  );
});

function hasCaseTwins(value: Value): boolean {
  if (value === null || typeof value !== "object") return false;
  const keys = Array.isArray(value) ? [] : Object.keys(value).map((key) => key.toUpperCase());
  return new Set(keys).size < keys.length || Object.values(value).some(hasCaseTwins);
}
