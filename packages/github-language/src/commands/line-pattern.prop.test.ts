import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileLinePattern, type LinePattern } from "./line-pattern.ts";
import { PatternProblem } from "./line-pattern-parser.ts";

const { pattern: patterns } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom("a", "b", "ab", ".", "[ab]", "[^a]", "\\w", "\\W", "\\s", "^", "$", "\\b", "\\B", "", "é", " "),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => left + right),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => `(${left}|${right})`),
    // The engines disagree about the last match of a repeated group that may be empty, so every item here takes an `a`.
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}?"))
      .map(([item, sign]) => `(?:${item}a)${sign}`),
    fc
      .tuple(tie("pattern"), fc.constantFrom("?=", "?!"))
      .map(([item, sign]) => `(${sign}${item.replaceAll(/\((?!\?)/g, "(?:")})`),
  ),
}));

const lines = fc.array(fc.constantFrom("a", "b", "a", " ", "é", "_"), { maxLength: 12 }).map((units) => units.join(""));

// A group in a repeat keeps what it took in an earlier turn, as in the official runner; JavaScript forgets it.
function hasGroupInRepeat(pattern: string): boolean {
  return /\(\?:[^]*\((?!\?)/.test(pattern);
}

describe("compileLinePattern()", () => {
  test("finds what the engine of JavaScript finds", () => {
    fc.assert(
      fc.property(patterns, fc.array(lines, { minLength: 1, maxLength: 5 }), (pattern, lines) => {
        const compiled = compileLinePattern(pattern);
        for (const line of lines) {
          const expected = new RegExp(pattern).exec(line);
          const found = compiled.match(line);
          const known = hasGroupInRepeat(pattern) ? 1 : undefined;
          expect(found?.slice(0, known)).toEqual(expected ? [...expected].slice(0, known) : undefined);
          if (expected) expect(compiled.test(line)).toBe(true);
          else if (!pattern.includes("^") && !pattern.includes("$")) expect(compiled.test(line)).toBe(false);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("throws nothing but its problem for any text, and stops", () => {
    const parts = fc.constantFrom(
      "a",
      "(",
      ")",
      "(?:",
      "(?=",
      "[",
      "]",
      "^",
      "$",
      "*",
      "+",
      "?",
      "{2}",
      "{0,9}",
      "|",
      "\\",
      ".",
      "-",
      "{",
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 25 }), lines, (parts, line) => {
        let compiled: LinePattern | undefined;
        try {
          compiled = compileLinePattern(parts.join(""));
        } catch (error) {
          expect(error).toBeInstanceOf(PatternProblem);
        }
        const found = compiled?.match(line.repeat(20));
        if (compiled && typeof found === "object") expect(found).toHaveLength(compiled.groups + 1);
      }),
      { numRuns: 1000 },
    );
  });
});
