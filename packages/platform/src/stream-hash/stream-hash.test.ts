import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { StreamHash } from "./stream-hash.ts";

async function digestOfParts(bytes: Uint8Array, partBytes: number): Promise<string> {
  const hash = new StreamHash();
  for (let at = 0; at < bytes.length; at += partBytes) await hash.update(bytes.subarray(at, at + partBytes));
  return hash.digest();
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const KIB = 1024;

test.each([0, 1, 4096, 4097, 300 * KIB, 2047 * KIB, 2048 * KIB, 2048 * KIB + 1, 9000 * KIB + 17])(
  "%i bytes have the digest that one call gives, however they are cut",
  async (length) => {
    const bytes = randomBytes(length);
    for (const part of [1000, 64 * KIB, 3000 * KIB].filter((size) => size * 3000 > length))
      expect(await digestOfParts(bytes, part)).toBe(sha256(bytes));
  },
);

test("more large streams at the same time than the thread takes, and others after them", async () => {
  for (const count of [20, 2]) {
    const streams = Array.from({ length: count }, () => randomBytes(2200 * KIB));
    expect(await Promise.all(streams.map((bytes) => digestOfParts(bytes, 64 * KIB)))).toEqual(streams.map(sha256));
  }
});

test("bytes that nobody waited for are in the digest", async () => {
  const bytes = randomBytes(5000 * KIB);
  const hash = new StreamHash();
  void hash.update(bytes);
  expect(await hash.digest()).toBe(sha256(bytes));
});
