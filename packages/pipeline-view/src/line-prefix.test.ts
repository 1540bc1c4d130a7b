import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LinePrefix } from "./line-prefix.ts";

function written(pieces: readonly string[]): string {
  let text = "";
  const prefix = new LinePrefix({ write: (chunk) => void (text += Buffer.from(chunk).toString()) }, "job | ");
  for (const piece of pieces) void prefix.write(Buffer.from(piece));
  void prefix.end();
  return text;
}

describe("LinePrefix", () => {
  test("LinePrefix writes whole lines behind the name, and ends the last one", () => {
    expect(written(["a", "b\n\nc", "d"])).toBe("job | ab\njob | \njob | cd\n");
    expect(written(["a\n"])).toBe("job | a\n");
    expect(written([])).toBe("");
  });

  test("LinePrefix does not depend on how the output comes in pieces", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "é", "\n", "bc\nd"), { maxLength: 20 }), (pieces) => {
        expect(written(pieces)).toBe(written([pieces.join("")]));
      }),
    );
  });

  test("LinePrefix shows a line without an end in parts", () => {
    const long = "x".repeat(70_000);
    expect(written([long, long])).toBe(`job | ${long}\njob | ${long}\n`);
  });
});
