import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { folderName } from "./keep-artifacts.ts";

describe("folderName()", () => {
  test("folderName() keeps what can stand in a path", () => {
    expect(folderName("test: [linux, 1.0]")).toBe("test: [linux, 1.0]");
    expect(folderName("test 1/3")).toBe("test 1%2F3");
    expect([".", "..", "a\nb", "100%"].map(folderName)).toEqual(["%2E", "%2E%2E", "a%0Ab", "100%25"]);
  });

  test("folderName() gives one part of a path, another one for each name", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), fc.string({ minLength: 1, unit: "binary" }), (a, b) => {
        expect(folderName(a)).not.toMatch(/[/\\\0]|^\.+$/);
        expect(folderName(a) === folderName(b)).toBe(a === b);
      }),
    );
  });
});
