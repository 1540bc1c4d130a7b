import { Report } from "@steps/source";
import { describe, expect, test } from "vitest";
import { read } from "../../test/rules.ts";
import { checkPatterns, conditionsOf } from "./decide-condition.ts";
import { loadPatterns } from "./if/patterns.ts";
import type { RuleReport } from "./rule-codes.ts";

describe("readJobRules()", () => {
  test.each<[text: string, problem: string]>([
    ["rules: x", `error invalid-rules 1:8: "rules" is not a list`],
    ["rules: [x]", "error invalid-rules 1:9: A rule is not a mapping of conditions and what follows"],
    ["rules: [{}]", "error invalid-rules 1:9: A rule is not a mapping of conditions and what follows"],
    ["rules: [{iff: $A}]", `error unknown-key 1:10: The rule has an unknown key: "iff"`],
    ["rules: [{if: 5}]", "error invalid-condition 1:14: The condition is not a string"],
    ["rules: [{if: '$A ='}]", `error invalid-condition 1:18: "=" is no part of a condition`],
    ["rules: [{if: '$A == true'}]", "warning doubtful-condition 1:21: A text is never equal to true"],
    [
      "rules: [{when: sometimes}]",
      `error invalid-rules 1:16: "when" is none of on_success, on_failure, always, manual, delayed, never: "sometimes"`,
    ],
    ["rules: [{when: delayed}]", `error invalid-rules 1:9: "when: delayed" stands without "start_in"`],
    ["rules: [{when: manual, start_in: 1 day}]", `error invalid-rules 1:34: "start_in" stands without "when: delayed"`],
    ["rules: [{changes: 5}]", `error invalid-rules 1:19: "changes" is not a list of strings`],
    ["rules: [{changes: [5]}]", `error invalid-rules 1:20: "changes" is not a string`],
    ["rules: [{changes: {compare_to: main}}]", `error invalid-rules 1:19: "changes" takes one of "paths" and "regexp"`],
    ["rules: [{exists: {paths: [a], ref: main}}]", `error invalid-rules 1:36: "ref" stands without "project"`],
    [
      "rules: [{exists: {paths: [a], compare_to: b}}]",
      `error unknown-key 1:31: "exists" has an unknown key: "compare_to"`,
    ],
    ["rules: [{when: always}]\nonly: [main]", `error conflicting-keys 2:1: "only" cannot stand beside "rules"`],
    [
      "when: never",
      `error invalid-rules 1:7: "when" is none of on_success, on_failure, always, manual, delayed: "never"`,
    ],
    ["only: {branch: [x]}", `error unknown-key 1:8: "only" has an unknown key: "branch"`],
    ["only: {kubernetes: maybe}", `error invalid-rules 1:20: "kubernetes" takes no other value than "active"`],
    ["allow_failure: sometimes", `error invalid-rules 1:16: "allow_failure" is neither true nor false`],
    ["allow_failure: {exit_codes: [a]}", `error invalid-rules 1:29: "exit_codes" is no exit code and no list of them`],
    [
      "rules: [{allow_failure: {exit_codes: 1}}]",
      `error invalid-rules 1:25: "allow_failure" is neither true nor false`,
    ],
  ])("readJobRules() refuses %j with its place", (text, problem) => {
    expect(read(text).problems).toContain(problem);
  });

  test("readJobRules() takes 50 patterns and no more, and lists in lists to a depth of 10", () => {
    const paths = (count: number): string =>
      `rules: [{changes: [${Array.from({ length: count }, (_, i) => `f${i}`).join()}]}]`;
    expect(read(paths(50)).problems).toEqual([]);
    expect(read(paths(51)).problems[0]).toContain("more than 50 patterns");
    const nested = (depth: number): string => `rules: ${"[".repeat(depth)}{when: always}${"]".repeat(depth)}`;
    expect(read(nested(11)).problems).toEqual([]);
    expect(read(nested(12)).problems[0]).toContain("nested deeper than 10");
  });

  test("checkPatterns() refuses what is none of RE2, with its place", async () => {
    const { rules } = read("rules: [{if: '$A =~ /ok/ || $A =~ /(?!no)x/'}]\n");
    const report: RuleReport = new Report();
    await checkPatterns(conditionsOf(rules), loadPatterns, report);
    expect(report.finish().map(({ message, position }) => `${position?.column}: ${message}`)).toEqual([
      "35: Invalid pattern: invalid or unsupported Perl syntax: `(?!`",
    ]);
  });

  test("checkPatterns() asks for no engine where there is no pattern", async () => {
    const { rules } = read("rules: [{if: '$A =~ $B'}]");
    const report: RuleReport = new Report();
    await checkPatterns(conditionsOf(rules), () => Promise.reject(new Error("it was asked for")), report);
    expect(report.finish()).toEqual([]);
  });
});
