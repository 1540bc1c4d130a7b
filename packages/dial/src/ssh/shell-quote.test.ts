import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shellCommand, shellQuote } from "./shell-quote.ts";

describe("shellQuote()", () => {
  test("leaves plain words, quotes the rest", () => {
    expect(shellCommand(["step-runner", "a b", "", "it's", "*", "~", "-x=1"])).toBe(
      `step-runner 'a b' '' 'it'\\''s' '*' '~' '-x=1'`,
    );
    expect(shellQuote("/a/b.c")).toBe("/a/b.c");
  });

  test("gives a shell the very words", () => {
    const word = fc.string({
      unit: fc.constantFrom(...Array.from("ab'\"\\$`!*?~#&|;<>(){}[] \t\n=%é")),
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const out = execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${shellCommand(words)}`], { encoding: "utf8" });
        expect(out.split("\0").slice(0, -1)).toEqual(words);
      }),
      { numRuns: 100 },
    );
  });
});
