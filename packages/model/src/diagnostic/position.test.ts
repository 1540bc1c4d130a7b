import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeFrame, formatPosition, positionAt, printable, type Source } from "./position.ts";

const sourceOf = (text: string, name = "func.yml"): Source => ({ name, text });

/** The frame of the first place where `mark` is. */
function frameAt(text: string, mark: string): string {
  return codeFrame(positionAt(sourceOf(text), text.indexOf(mark), mark.length));
}

describe("positionAt()", () => {
  test.each([
    ["abc", 0, "1:1"],
    ["abc", 3, "1:4"],
    ["abc", 99, "1:4"],
    ["abc", -5, "1:1"],
    ["", 0, "1:1"],
    ["a\nb", 1, "1:2"],
    ["a\nb", 2, "2:1"],
    ["a\n", 2, "2:1"],
    ["\n\n", 2, "3:1"],
    ["a\r\nb", 1, "1:2"],
    ["a\r\nb", 2, "1:3"],
    ["a\r\nb", 3, "2:1"],
    ["a\rb", 2, "1:3"],
    ["\tx", 1, "1:2"],
    ["\u{1F600}x", 2, "1:3"],
  ])("in %j at %i is %s", (text, offset, expected) => {
    expect(formatPosition(positionAt(sourceOf(text), offset))).toBe(`func.yml:${expected}`);
  });

  test("is at least one unit long and never outside the text", () => {
    expect(positionAt(sourceOf("ab"), 7, 0)).toMatchObject({ offset: 2, length: 1, line: 1, column: 3 });
  });

  test("counts as a naive reading does, wherever it is asked first", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "\n", "\r", "\t", "é"), maxLength: 40 });
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 45 }), { minLength: 1, maxLength: 8 }), (content, offsets) => {
        const source = sourceOf(content);
        for (const offset of offsets) {
          const before = content.slice(0, offset).split("\n");
          expect(positionAt(source, offset)).toMatchObject({
            line: before.length,
            column: (before.at(-1) ?? "").length + 1,
          });
        }
      }),
    );
  });
});

describe("codeFrame()", () => {
  test("shows the line with its neighbours and carets below the place", () => {
    expect(frameAt("spec:\n  inptus:\n    x: {}\n---\n", "inptus")).toBe(
      ["  1 | spec:", "> 2 |   inptus:", "    |   ^^^^^^", "  3 |     x: {}"].join("\n"),
    );
  });

  test("aligns line numbers of different widths", () => {
    expect(frameAt(`${"\n".repeat(8)}a\nb`, "a")).toBe(["   8 |", ">  9 | a", "     | ^", "  10 | b"].join("\n"));
  });

  test("treats CRLF as one line end", () => {
    expect(frameAt("a\r\nbc\r\nd", "bc")).toBe(["  1 | a", "> 2 | bc", "    | ^^", "  3 | d"].join("\n"));
    expect(codeFrame(positionAt(sourceOf("a\r\n\r\nb"), 3))).toBe(
      ["  1 | a", "> 2 |", "    | ^", "  3 | b"].join("\n"),
    );
  });

  test("shows a lone carriage return in its line, where positionAt() counts it", () => {
    expect(frameAt("a\rb", "b")).toBe(["> 1 | a\uFFFDb", "    |   ^"].join("\n"));
  });

  test("gives a tab the width of its caret", () => {
    expect(frameAt("\t\tx: 1", "x")).toBe(["> 1 |   x: 1", "    |   ^"].join("\n"));
  });

  test("points at the end of a last line without and with a line feed", () => {
    expect(codeFrame(positionAt(sourceOf("a\nbc"), 4))).toBe(["  1 | a", "> 2 | bc", "    |   ^"].join("\n"));
    expect(codeFrame(positionAt(sourceOf("a\nbc\n"), 5))).toBe(["  2 | bc", "> 3 |", "    | ^"].join("\n"));
    expect(frameAt("a\nbc\n", "bc")).toBe(["  1 | a", "> 2 | bc", "    | ^^"].join("\n"));
    expect(codeFrame(positionAt(sourceOf(""), 0))).toBe(["> 1 |", "    | ^"].join("\n"));
  });

  test("ends the carets at the end of the line", () => {
    expect(codeFrame(positionAt(sourceOf("ab: |\n  cd\n"), 4, 100))).toBe(
      ["> 1 | ab: |", "    |     ^", "  2 |   cd"].join("\n"),
    );
  });

  test("cuts long lines around the place", () => {
    const frame = frameAt(`${"a".repeat(1000)}X${"b".repeat(1000)}`, "X").split("\n");
    expect(frame).toHaveLength(2);
    expect(frame[0]).toHaveLength("> 1 | ".length + 120);
    expect(frame[0]?.[frame[1]?.indexOf("^") ?? -1]).toBe("X");
  });

  test("cannot drive a terminal", () => {
    const frame = frameAt("\u001b]0;owned\u0007 X \u009b31m \u202e", "X");
    // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
    expect(frame.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(formatPosition(positionAt(sourceOf("", "a\u001b[31m\n.yml"), 0))).toBe("a\uFFFD[31m\uFFFD.yml:1:1");
  });

  test("has its carets below the place for any text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 80 }),
        fc.nat({ max: 90 }),
        fc.nat({ max: 90 }),
        (text, offset, length) => {
          const position = positionAt(sourceOf(text), offset, length);
          const rows = codeFrame(position).split("\n");
          const marked = rows.findIndex((row) => row.startsWith(">"));
          const carets = rows.at(marked + 1) ?? "";
          const first = carets.indexOf("^");
          expect(carets).toMatch(/^ +\| *\^+$/);
          expect(rows.length).toBeLessThanOrEqual(4);
          const line = (text.split("\n")[position.line - 1] ?? "").replace(/\r$/, "");
          const pointed = printable(line[position.column - 1] ?? "").trim();
          expect(rows[marked]?.[first] ?? "").toBe(rows[marked]?.[first] === " " ? " " : pointed);
        },
      ),
    );
  });

  test("takes 10 000 places on one line of 4 MiB, and on 2 Mi lines", () => {
    for (const text of ["x".repeat(4 * 1024 * 1024), "x\n".repeat(2 * 1024 * 1024)]) {
      const source = sourceOf(text);
      let rows = 0;
      for (let n = 0; n < 10_000; n++) rows += codeFrame(positionAt(source, n * 419)).split("\n").length;
      expect(rows).toBeGreaterThanOrEqual(20_000);
    }
  });
});
