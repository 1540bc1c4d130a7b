import { describe, expect, test } from "vitest";
import { digestOf, sha256 } from "./digest.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("sha256()", () => {
  test("is the digest of the bytes, of a string in UTF-8", () => {
    expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(sha256("é")).toBe(sha256(bytes("é")));
  });
});

describe("digestOf()", () => {
  test("does not depend on the order of keys", () => {
    expect(digestOf({ a: 1, b: [2] })).toBe(digestOf({ b: [2], a: 1 }));
    expect(digestOf({ a: 1 })).toBe(sha256('{"a":1}'));
  });
});
