import { spawnSync } from "node:child_process";
import { UsageError } from "@steps/console";
import { constantFrom, sample, string } from "fast-check";
import { expect, test } from "vitest";
import { splitWords } from "./split-words.ts";

test.each([
  ["a b  c", ["a", "b", "c"]],
  ["ssh host 'step-runner proxy'", ["ssh", "host", "step-runner proxy"]],
  [`a "b 'c' \\" d" e\\ f`, ["a", `b 'c' " d`, "e f"]],
  [`a '' ""`, ["a", "", ""]],
  [`a"b"'c'd`, ["abcd"]],
])("%s", (text, words) => {
  expect(splitWords("command", text)).toEqual(words);
});

test.each(["", "  ", "''", "a 'b", 'a "b', "a \\"])("%j is refused", (text) => {
  expect(() => splitWords("command", text)).toThrow(UsageError);
});

test("words are those that a shell has", () => {
  const texts = sample(string({ unit: constantFrom("a", "b", " ", "'", '"', "\\", "\t"), maxLength: 12 }), 300);
  const cases = texts.flatMap((text) => {
    try {
      return [{ text, words: splitWords("command", text) }];
    } catch (error) {
      if (error instanceof UsageError) return [];
      throw error;
    }
  });
  expect(cases.length).toBeGreaterThan(50);
  const script = cases.map(({ text }) => `printf '%s\\0' ${text}; printf '\\n\\0'`).join("\n");
  const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  expect(stdout).toBe(cases.map(({ words }) => `${words.map((word) => `${word}\0`).join("")}\n\0`).join(""));
});
