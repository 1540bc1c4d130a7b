import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createSha256, hashSha256, randomHex } from "./crypto.ts";

const TEXTS = ["", "plain", "ä€😀", "a lone \uD800 surrogate", "x".repeat(100_000)];

test.each(TEXTS)("hashSha256() and createSha256() are SHA-256 of the text in UTF-8 (case %#)", (text) => {
  const expected = createHash("sha256").update(Buffer.from(text)).digest("hex");
  expect(hashSha256(text)).toBe(expected);
  expect(hashSha256(Buffer.from(text))).toBe(expected);
  const parts = createSha256();
  parts.update(text.slice(0, 1));
  parts.update(Buffer.from(text.slice(1)));
  expect(parts.digest("hex")).toBe(expected);
});

test("randomHex() gives two lower-case digits for each byte, others each time", () => {
  const made = new Set(Array.from({ length: 100 }, () => randomHex(8)));
  expect(made.size).toBe(100);
  for (const text of made) expect(text).toMatch(/^[0-9a-f]{16}$/);
});
