import type { Value } from "@steps/model";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkTemplate,
  createScope,
  escapeTemplate,
  expand,
  ExpressionError,
  expandText,
  expandValue,
  findMismatches,
  hasExpression,
  parseTemplate,
} from "./index.ts";

const scope = createScope({ a: 1, b: { "c-d": [null, "x"], c: "y" }, d: "z", long: "ab".repeat(1000) });

// Delimiters, their halves and what may stand around them, so that most texts come close to being an expression.
const fragment = fc.constantFrom(
  "${{",
  "}}",
  "\\${{",
  "\\",
  '"',
  "'",
  "$",
  "{",
  "}",
  "${",
  " ",
  "\n",
  "\u00e9",
  "\ud83d",
  "😀",
  "\\u00",
  "\\n",
  "a",
  "b",
  "c-d",
  "d",
  "b.c-d",
  "missing",
  "len",
  "long",
  "get(b, 'c')",
  "if",
  "null",
  "true",
  "1",
  "0",
  "2.5",
  "1e",
  "(",
  ")",
  "[",
  "]",
  ",",
  ":",
  ".",
  "+",
  "-",
  "*",
  "/",
  "%",
  "!",
  "==",
  "!=",
  "<",
  ">=",
  "&&",
  "||",
  "__proto__",
);
const mixed = fc.array(fragment, { maxLength: 25 }).map((parts) => parts.join(""));
const inside = mixed.map((text) => `x \${{ ${text} }} y`);
const hostile = fc.oneof(mixed, inside, fc.string({ unit: "binary" }), fc.string());

/** Returns the error that was thrown if it is one of ours; any other error is thrown again. */
function thrownBy(action: () => unknown): ExpressionError | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}

describe("any text", () => {
  test("has a value or an ExpressionError with a place inside the text", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const action of [() => expand(text, scope), () => expandText(text, scope), () => parseTemplate(text)]) {
          const error = thrownBy(action);
          if (!error) continue;
          expect(error.expression.startsWith("${{")).toBe(true);
          expect(text.includes(error.expression)).toBe(true);
          expect(error.offset + error.length).toBeLessThanOrEqual(text.length);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("is refused by parseTemplate() exactly when checkTemplate() finds something", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const [first] = checkTemplate(text);
        const thrown = thrownBy(() => parseTemplate(text));
        expect([thrown?.code, thrown?.offset]).toEqual([first?.code, first?.offset]);
      }),
      { numRuns: 2000 },
    );
  });

  test("has mismatches only where the result is the same for all values", () => {
    const order = ["null", "boolean", "number", "string", "array", "object"];
    let count = 0;
    fc.assert(
      fc.property(hostile, (text) => {
        for (const { operator, left, right, offset, length } of findMismatches(text)) {
          const part = text.slice(offset, offset + length);
          let value: unknown;
          const error = thrownBy(() => (value = expand(`\${{ ${part} }}`, scope)));
          // Something else in it may be wrong.
          if (error !== undefined) continue;
          count += 1;
          const isLess = order.indexOf(left) < order.indexOf(right);
          const expected = { "==": false, "!=": true }[operator as string] ?? operator.startsWith("<") === isLess;
          expect([part, value]).toEqual([part, expected]);
        }
      }),
      // Two constants of different kinds beside an operator are rare in such texts.
      { numRuns: 5000, examples: [["${{ 1 == 'a' }}"], ["${{ null < 2.5 }}"], ["${{ true >= 'd' }}"]] },
    );
    expect(count).toBeGreaterThan(2);
  });

  test("without an expression is itself, and hasExpression() tells", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        if (!hasExpression(text)) expect(expand(text, scope)).toBe(text.replaceAll("\\${{", "${{"));
        else if (checkTemplate(text).length === 0) expect(parseTemplate(text).isLiteral).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test("comes back from expand() when it was escaped, alone and inside a value", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const escaped = escapeTemplate(text);
        expect(expand(escaped, scope)).toBe(text);
        expect(expandText(escaped, scope)).toBe(text);
        expect(expandValue([escaped], scope)).toEqual([text]);
      }),
      { numRuns: 2000 },
    );
  });

  test("may stand in a string literal of either kind", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const single = text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
        expect(expand(`\${{ '${single}' }}`, scope)).toBe(text);
        const double = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("${{", "\\${{");
        expect(expand(`\${{ "${double}" }}`, scope)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("JSON", () => {
  const json = fc.jsonValue({ maxDepth: 5 }).filter((value) => !JSON.stringify(value).includes("${{"));

  test("is an expression with itself as its value", () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const result = expand(`\${{ ${text} }}`, scope);
        expect(JSON.stringify(result)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 1000 },
    );
  });

  test("comes back from toJson() and fromJson()", () => {
    fc.assert(
      fc.property(json, (value) => {
        const here = createScope({ value: value as Value });
        expect(expand("${{ toJson(value) }}", here)).toBe(JSON.stringify(value));
        expect(expand("${{ fromJson(toJson(value)) == value }}", here)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("is read from a text as the text it is", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        expect(expand(text, scope)).toBe(text);
      }),
    );
  });
});
