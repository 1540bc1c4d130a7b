import { describe, expect, test } from "vitest";
import { readYaml } from "./read-yaml.ts";

/** Returns the place, the message and the hint of each error of a text. */
function said(text: string): string[] {
  return readYaml({ name: "f.yml", text }).diagnostics.map(
    ({ position, message, hint }) =>
      `${position?.line}:${position?.column} ${message}${hint === undefined ? "" : ` | ${hint}`}`,
  );
}

describe("a text that is not YAML", () => {
  test.each([
    ["a tab", "spec: {}\n---\nexec:\n\tcommand: [ls]\n", "4:1 The line is indented with a tab"],
    ["a tab behind blanks", "- name: a\n \tscript: ls\n", "2:2 The line is indented with a tab"],
    ["a tab in a list", "- name: a\n\tscript: echo\n", "2:1 The line is indented with a tab"],
    ["two hyphens", "spec: {}\n--\nexec: {command: [ls]}\n", "2:1 The line does not separate documents"],
    ["four hyphens", "spec: {}\n----\nexec: {command: [ls]}\n", "2:1 The line does not separate documents"],
    ["a colon in a script", "- name: a\n  script: echo a: b\n", "2:11 The value holds a colon followed by a blank"],
    ["a colon in an expression", "- name: a\n  env:\n    A: ${{ b }}: c\n", "3:8 The value holds a colon"],
    [
      "an expression in braces",
      "- name: a\n  env: {A: ${{ b }}}\n",
      "2:12 An expression stands in { } or [ ] without quotes",
    ],
    ["words behind a quote", '- name: a\n  script: "echo" hi\n', "2:18 The value goes on behind its closing quote"],
    ["an at sign", "- name: a\n  script: @foo\n", '2:11 A value without quotes cannot begin with "@"'],
    ["a backtick", "- name: a\n  script: `ls`\n", '2:11 A value without quotes cannot begin with "`"'],
    ["no closing quote", '- name: a\n  script: "echo\n  env: {}\n', "4:1 A text in double quotes does not end"],
    ["no closing brace", "- name: a\n  env: {A: b\n- name: c\n", '3:1 A "{" has no "}"'],
    ["a quote in an item", "- {name: a, script: ['it's']}\n", "1:26 Two items in { } or [ ] have no comma"],
    ["another column", "- name: a\n  env:\n    A: b\n   B: c\n", "4:1 The line is indented neither"],
    ["less than an item", "- name: a\n  script: ls\n env: {}\n", "3:1 The line stands in a list and is no item of it"],
    ["no blank behind a colon", "- name:a\n  script: ls\n", "1:3 A colon ends a key only with a blank behind it"],
    ["an escape", '- name: a\n  script: "a\\d"\n', '2:13 No escape in double quotes: "\\d"'],
  ])("is explained once, in words of its author: %s", (_, text, expected) => {
    const [first, ...more] = said(text);
    expect(first).toContain(expected);
    expect(first).toContain(" | ");
    expect(more).toEqual([]);
  });
});
