import { describe, expect, test } from "vitest";
import { compileLinePattern } from "./line-pattern.ts";
import { PatternProblem } from "./line-pattern-parser.ts";

describe("compileLinePattern()", () => {
  test.each<[string, string, (string | undefined)[] | undefined]>([
    ["", "abc", [""]],
    ["b", "abc", ["b"]],
    ["x", "abc", undefined],
    ["^abc$", "abc", ["abc"]],
    ["^b", "abc", undefined],
    ["b$", "abc", undefined],
    ["(a|ab)(c|bcd)(d*)", "abcd", ["abcd", "a", "bcd", ""]],
    ["(a*)*", "aa", ["aa", "aa"]],
    ["a{2}b{1,}c{0,1}d{2,3}?", "aabdddd", ["aabdd"]],
    ["a{,2}x{", "a{,2}x{", ["a{,2}x{"]],
    ["a+?b*?", "aabb", ["a"]],
    ["(a)|(b)", "b", ["b", undefined, "b"]],
    ["(?:a)(?<name>b)", "ab", ["ab", "b"]],
    [".", "\n\r", ["\r"]],
    ["[\\d\\-x-z]+", "a1-yb", ["1-y"]],
    ["[^\\s,]+", " ,a b", ["a"]],
    ["[]]", "]", undefined],
    ["[^]", "\n", ["\n"]],
    ["[\\w-.]+", "a-.", ["a-."]],
    ["[a\\]b]+", "a]b", ["a]b"]],
    ["[\\b]", "\b", ["\b"]],
    ["\\bfoo\\b", "a foo.", ["foo"]],
    ["\\bfoo\\b", "afoo foos", undefined],
    ["\\Boo", "foo", ["oo"]],
    ["\\x41\\u0042\\t\\cA\\/\\.", "AB\t\u0001/.", ["AB\t\u0001/."]],
    ["\\s", "\u00A0", undefined],
    ["\\w", "\u00E9", undefined],
    ["\\d", "\u0663", undefined],
    ["é+", "caféé", ["éé"]],
    ["[à-ü]", "é", ["é"]],
    ["a(?=b)", "ac ab", ["a"]],
    ["a(?!b)", "ab ac", ["a"]],
    ["(?!.*x)^a", "abx", undefined],
    ["\\Aa\\z", "a", ["a"]],
    ["$^", "", [""]],
    ["a$^", "a", undefined],
  ])("%j in %j", (pattern, line, expected) => {
    const compiled = compileLinePattern(pattern);
    expect(compiled.match(line)).toEqual(expected);
    if (pattern !== "a$^") expect(compiled.test(line)).toBe(expected !== undefined);
  });

  test.each<[string, RegExp]>([
    ["(a)\\1", /back-reference/],
    ["\\k<a>", /back-reference/],
    ["(?<=a)b", /unsupported group "\(\?<=/],
    ["(?<!a)b", /unsupported group/],
    ["(?>a)", /unsupported group/],
    ["(?i)a", /unsupported group/],
    ["(?=(a))", /numbered group/],
    ["(a", /lacks a "\)"/],
    ["a)", /too many/],
    ["[a", /lacks a "\]"/],
    ["[z-a]", /out of order/],
    ["*a", /nothing to repeat/],
    ["{2}", /nothing to repeat/],
    ["a**", /repeats a repeat/],
    ["a{1}{2}", /repeats a repeat/],
    ["^*", /repeats an assertion/],
    ["a{2,1}", /bounds/],
    ["a{1001}", /bounds/],
    ["\\q", /unknown escape/],
    ["a\\", /backslash/],
    ["(".repeat(60), /nested too deep/],
    ["a".repeat(4097), /more than 4096/],
    ["(a{100}){100}", /too large/],
    ["((((a{1,30}){1,30}){1,30}){1,30}){1,30}", /too large/],
  ])("refuses %j", (pattern, message) => {
    expect(() => compileLinePattern(pattern)).toThrow(PatternProblem);
    expect(() => compileLinePattern(pattern)).toThrow(message);
  });

  test.each([
    "^(a+)+$",
    "(a|a)*b",
    "(a*)*(a*)*(a*)*b",
    "^(.*)(.*)(.*)(.*)(.*)x$",
    "(.+)+\\d(.+)+\\d",
    "\\b(a+)+\\b!",
    "(?:(?:a?){20}){20}b",
  ])("gives up on no line for %s", (pattern) => {
    const line = "a".repeat(4096);
    expect(compileLinePattern(pattern).test(`${line}-`)).not.toBe(true);
    for (let count = 0; count < 20; count++) compileLinePattern(pattern).match(`${line}${count}!`);
  });

  test("gives up on a search that is too long", () => {
    const pattern = compileLinePattern("(?=a*b)(?=(?:a|aa)*c)x|(?:\\b|a){100}(?:\\b|a){100}\\b\\B$");
    expect(pattern.match("a".repeat(4096))).toBe("exhausted");
    expect(pattern.test("a".repeat(4096))).toBe("exhausted");
    expect(compileLinePattern(".*(?=a*b)").match("a".repeat(4096))).toBe("exhausted");
  });

  test("keeps a bounded number of states, whatever the line", () => {
    const pattern = compileLinePattern("(?:a|b)*a(?:a|b){20}!");
    const line = Array.from({ length: 4000 }, (_, index) => ((index * 2654435761) & 64 ? "a" : "b")).join("");
    expect(pattern.test(line)).toBe(false);
    expect(pattern.test(`${line}a${"b".repeat(20)}!`)).toBe(true);
    const others = Array.from({ length: 3000 }, (_, index) => String.fromCharCode(0x3000 + index)).join("");
    expect(pattern.test(others)).toBe(false);
  });
});
