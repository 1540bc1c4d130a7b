import { describe, expect, test } from "vitest";
import { splitWords } from "./split-words.ts";

describe("splitWords", () => {
  test.each<[string, string[]]>([
    ["", []],
    [" \t\n\r ", []],
    ["one", ["one"]],
    ["  one   two\tthree\nfour ", ["one", "two", "three", "four"]],
    [`a "b c" d`, ["a", "b c", "d"]],
    [`a 'b c' d`, ["a", "b c", "d"]],
    [`--name="b c"'d e'f`, ["--name=b cd ef"]],
    [`"" ''`, ["", ""]],
    [`a""`, ["a"]],
    [`"it's" 'a "b"'`, ["it's", 'a "b"']],
    [`"say \\"hi\\""`, [`say "hi"`]],
    [`\\"a b\\"`, [`"a`, `b"`]],
    [`\\'a b\\'`, ["'a", "b'"]],
    ["a\\ b", ["a b"]],
    ["it's here", ["it's", "here"]],
    [`"open end`, ["open end"]],
    [`"`, [""]],
    [`\\d+ C:\\dir "\\d\\\\"`, ["\\d+", "C:\\dir", "\\d\\"]],
    [`'a\\b'`, ["a\\b"]],
    ["\\", ["\\"]],
    ["a \\\n  b", ["a", "b"]],
    ["a \\\r\n  b", ["a", "b"]],
    ["--a\\\n--b", ["--a--b"]],
    ["$HOME `id` $(id) * ~ a;b|c>d #e", ["$HOME", "`id`", "$(id)", "*", "~", "a;b|c>d", "#e"]],
    ["ä\u00a0ö 🙂", ["ä\u00a0ö", "🙂"]],
  ])("%j", (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  test("takes time in proportion to the text", () => {
    for (const text of [
      "\\".repeat(300_000),
      `"${"\\".repeat(300_000)}`,
      "'".repeat(300_001),
      `"a" `.repeat(100_000),
    ]) {
      expect(splitWords(text).join("").length).toBeLessThanOrEqual(text.length);
    }
  });
});
