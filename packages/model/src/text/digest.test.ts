import { describe, expect, test } from "vitest";
import { shortDigest } from "./digest.ts";

describe("shortDigest()", () => {
  test("is the first 12 digits", () => {
    expect(shortDigest("0123456789abcdef")).toBe("0123456789ab");
  });
});
