import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskForms } from "./mask-forms.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Returns the rest of a text when all forms are removed, the longest first. */
function mask(text: string, forms: readonly string[]): string {
  let result = text;
  for (const form of forms.toSorted((a, b) => b.length - a.length)) result = result.replaceAll(form, "***");
  return result;
}

describe("maskForms()", () => {
  test.each<[string, string, string[]]>([
    ["Base64", "hunter2!", [base64("hunter2!"), "aHVudGVyMiE"]],
    ["Base64 of what is left behind one and two bytes", "hunter2!", [base64("unter2!"), base64("nter2!")]],
    ["Base64 for addresses", "\u00FB\u00FF\u00FE??", [Buffer.from("\u00FB\u00FF\u00FE??").toString("base64url")]],
    ["double quotes", 'pass"word', ['pass\\"word']],
    ["an expression", "it's me", ["it''s me"]],
    ["JSON", 'a\tb\\c"d', ['a\\tb\\\\c\\"d']],
    ["JSON of other programs", "<p\u00E4ss>", ["<p\\u00e4ss>", "\\u003cp\u00E4ss\\u003e"]],
    ["a URI", "a b/c?d'!", ["a%20b%2Fc%3Fd'!", "a%20b%2Fc%3Fd%27%21", "a+b%2Fc%3Fd%27%21"]],
    ["XML", `a<b>&"'c`, ["a&lt;b&gt;&amp;&quot;&apos;c", "a&lt;b&gt;&amp;\"'c", "a&lt;b&gt;&amp;&quot;&#39;c"]],
    ["quotes around it", '"secret"', ["secret"]],
    ["apostrophes around it", "'secret'", ["secret"]],
    ["blanks around it", "  secret ", ["secret", "  secret "]],
    ["an ampersand", "first&second&third1", ["first&second&", "third1"]],
    ["an ampersand and a plus", "first&+second", ["first&+"]],
    ["lines", "one!\r\n  two! \n\nthree", ["one!", "two!", "three", base64("three")]],
  ])("has the forms of %s", (_, value, expected) => {
    const forms = maskForms(value);
    expect(forms).toContain(value);
    for (const form of expected) expect(forms).toContain(form);
    expect(new Set(forms).size).toBe(forms.length);
  });

  test.each(["", " ", "\n\t\r\n"])("has none for %j", (value) => {
    expect(maskForms(value)).toEqual([]);
  });

  test("masks a short value itself, but neither short lines nor short forms", () => {
    expect(maskForms("a")).toEqual(["a"]);
    expect(maskForms("'a'")).toEqual(["'a'", "J2En", "''a''", "%27a%27", "&apos;a&apos;", "&#39;a&#39;"]);
    const forms = maskForms('{\n  "key": "secret"\n}');
    expect(forms).toContain('"key": "secret"');
    expect(forms.filter((form) => form.length < 4)).toEqual([]);
    expect(maskForms("abc&def")).not.toContain("abc&");
  });

  test("masks a value in Base64 whatever comes before and behind it, but for the last two bytes", () => {
    const value = "s3cr3t-v@lue";
    const forms = maskForms(value);
    for (const before of ["", "u", "us", "use", "user:"]) {
      expect(mask(base64(before + value), forms)).toMatch(/^[A-Za-z0-9+/]{0,8}\*\*\*=*$/);
      for (const behind of ["x", "xy", "xyz"]) {
        expect(mask(base64(before + value + behind), forms)).toMatch(/^[A-Za-z0-9+/]{0,8}\*\*\*[A-Za-z0-9+/]{0,8}=*$/);
      }
    }
  });

  test("takes any text, and a mebibyte of lines", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        const forms = maskForms(value);
        expect(forms.includes(value)).toBe(value.trim() !== "");
        expect(forms).not.toContain("");
      }),
    );
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}`);
    const forms = new Set(maskForms(lines.join("\n")));
    expect(lines.every((line) => forms.has(line))).toBe(true);
    expect(maskForms("\uD800 alone")).toContain("\uD800 alone");
  });
});
