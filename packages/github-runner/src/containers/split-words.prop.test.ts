import * as fc from "fast-check";
import { expect, test } from "vitest";
import { splitWords } from "./split-words.ts";

test("reads back whatever is in single quotes", () => {
  const words = fc.array(fc.string({ unit: "binary" }).map((text) => text.replaceAll("'", "")));
  const check = (given: readonly string[]): void => {
    expect(splitWords(given.map((word) => `'${word}'`).join(" "))).toEqual(given);
  };
  fc.assert(fc.property(words, check));
});

test("reads back what is in double quotes with backslashes before quotes doubled", () => {
  const quote = (word: string): string => `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&")}"`;
  const words = fc.array(fc.string({ unit: fc.constantFrom("\\", '"', "'", " ", "a", "\n") }));
  const check = (given: readonly string[]): void => {
    expect(splitWords(given.map(quote).join(" "))).toEqual(given);
  };
  fc.assert(fc.property(words, check));
});
