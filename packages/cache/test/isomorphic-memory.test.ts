import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createGitRepository, startGitHttpServer, tempDir } from "@steps/testkit";
import { assertPack } from "../src/git/assert-pack.ts";
import { codeOf, openCache } from "./fixtures.ts";

const LIMITS = { maxFileBytes: 1000, maxTotalBytes: 2500 };

function pack(objects: readonly { type: number; size: number; content: Uint8Array; before?: Uint8Array }[]): Buffer {
  const head = Buffer.alloc(12);
  head.write("PACK");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const parts = objects.map(({ type, size, content, before = Buffer.alloc(0) }) => {
    const bytes = [(type << 4) | (size & 15)];
    for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 128;
      bytes.push(rest & 127);
    }
    return Buffer.concat([Buffer.from(bytes), before, deflateSync(content)]);
  });
  return Buffer.concat([head, ...parts, Buffer.alloc(20)]);
}

function blob(size: number): { type: number; size: number; content: Uint8Array } {
  return { type: 3, size, content: Buffer.alloc(size, 1) };
}

describe("assertPack()", () => {
  test("takes what is within the limits, deltas included", () => {
    const delta = { type: 7, size: 4, content: Buffer.from([10, 20, 1, 65]), before: Buffer.alloc(20, 7) };
    expect(() =>
      assertPack(pack([blob(1000), blob(1000), delta, { ...delta, type: 6, before: Buffer.from([1]) }]), LIMITS),
    ).not.toThrow();
  });

  test.each<[string, Parameters<typeof pack>[0], string]>([
    ["an object", [blob(1001)], "has an object larger than 1000 bytes"],
    ["all together", [blob(1000), blob(1000), blob(600)], "unpacks to more than 2500 bytes"],
    [
      "what a delta makes",
      [{ type: 7, size: 4, content: Buffer.from([10, 0xff, 0x7f, 0]), before: Buffer.alloc(20) }],
      "has an object larger",
    ],
    ["more than it claims", [{ type: 3, size: 10, content: Buffer.alloc(900) }], "an object is damaged"],
    ["less than it claims", [{ type: 3, size: 10, content: Buffer.alloc(9) }], "does not have the size it claims"],
  ])("refuses what is too large: %s", (_name, objects, problem) => {
    expect(() => assertPack(pack(objects), LIMITS)).toThrow(problem);
  });

  test("ends whatever it is given", () => {
    for (let round = 0; round < 300; round += 1) {
      const bytes = Buffer.concat([pack([blob(20)]).subarray(0, 12), randomBytes(round)]);
      try {
        assertPack(bytes, LIMITS);
      } catch (error) {
        expect(error).toHaveProperty("code", expect.stringMatching(/^(?:ARCHIVE_TOO_LARGE|DIGEST_MISMATCH)$/));
      }
    }
  });
});

test("resolve() by isomorphic refuses a file that is too large before it unpacks it", async () => {
  const folder = tempDir();
  const repository = await createGitRepository(join(folder, "project"), { "step.yml": "x", large: "0".repeat(5000) });
  await using server = await startGitHttpServer(dirname(repository.dir));
  await using cache = openCache({ git: "isomorphic", limits: { maxFileBytes: 1000 } });
  const request = { kind: "git", url: `${server.url}/project`, version: "main" } as const;
  expect(await codeOf(cache.resolve(request))).toBe("ARCHIVE_TOO_LARGE");
});
