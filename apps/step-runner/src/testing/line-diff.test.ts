import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineDiff } from "./line-diff.ts";

describe("lineDiff()", () => {
  test("marks the lines that only one of the texts has", () => {
    expect(lineDiff("a\nb\nc", "a\nx\nc\nd")).toEqual(["  a", "- b", "+ x", "  c", "+ d"]);
  });

  test("shows an end of the last line that only one text has", () => {
    expect(lineDiff("a\n", "a")).toEqual(["  a", "- "]);
  });

  test("holds both texts, whatever they are", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", ""), { minLength: 1, maxLength: 8 })
      .map((rows) => rows.join("\n"));
    fc.assert(
      fc.property(text, text, (first, second) => {
        const rows = lineDiff(first, second);
        const of = (mark: string): string =>
          rows
            .filter((row) => row[0] !== mark)
            .map((row) => row.slice(2))
            .join("\n");
        expect([of("+"), of("-")]).toEqual([first, second]);
        if (first === second) expect(rows.every((row) => row.startsWith(" "))).toBe(true);
      }),
    );
  });

  test("takes no longer for long texts than for their lines", () => {
    const long = Array.from({ length: 501 }, (_, at) => String(at)).join("\n");
    expect(lineDiff(long, long)).toHaveLength(1002);
  });
});
