import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { DEFAULT_LIMITS } from "../limits.ts";
import { readZip } from "./read-zip.ts";
import { writeZip, type ZipSource } from "./write-zip.ts";

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "steps-zip-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function sourceOf(root: string, name: string): ZipSource {
  const path = join(root, name);
  const stats = lstatSync(path);
  const type = stats.isDirectory() ? "dir" : stats.isSymbolicLink() ? "link" : "file";
  return { name, path, type, mode: stats.mode, size: stats.size, modifiedAt: stats.mtime };
}

interface Read {
  readonly type: string;
  readonly mode: number;
  readonly modifiedS: number;
  readonly content: string;
}

async function contentsOf(path: string): Promise<Record<string, Read>> {
  const file = await open(path);
  try {
    return await readZip(file, { limits: DEFAULT_LIMITS }, async ({ members }) => {
      const found: Record<string, Read> = {};
      for (const { node, mode, modifiedAt, content } of members) {
        const hash = createHash("sha256");
        if (node.type !== "dir") for await (const chunk of content()) hash.update(chunk);
        const modifiedS = Math.floor(modifiedAt.getTime() / 1000);
        found[node.path] = { type: node.type, mode, modifiedS, content: hash.digest("hex") };
      }
      return found;
    });
  } finally {
    await file.close();
  }
}

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

test("writeZip() packs what readZip() reads: content, kind, permissions and time", async () => {
  const size = fc.oneof(fc.nat(2000), fc.constantFrom(0, 1, 256 * 1024, 256 * 1024 + 1, 700_000));
  const file = fc.record({ size, isRandom: fc.boolean(), mode: fc.constantFrom(0o600, 0o644, 0o755, 0o444) });
  await fc.assert(
    fc.asyncProperty(fc.array(file, { maxLength: 5 }), fc.constantFrom(0, 1, 5, 9), async (files, level) => {
      const root = tempDir();
      const names = files.map(({ size, isRandom, mode }, index) => {
        const name = `f${index} é`;
        writeFileSync(
          join(root, name),
          isRandom ? Buffer.from(sha256(`${index}`).repeat(size / 64 + 1)).subarray(0, size) : Buffer.alloc(size),
        );
        chmodSync(join(root, name), mode);
        return name;
      });
      mkdirSync(join(root, "dir"));
      symlinkSync("dir", join(root, "link"));
      const target = join(tempDir(), "a.zip");
      const sources = ["dir", "link", ...names].map((name) => sourceOf(root, name));
      const { digest, size: bytes } = await writeZip(target, sources, level);
      const data = readFileSync(target);
      expect([sha256(data), data.byteLength]).toEqual([digest, bytes]);
      const expected = sources.map(({ name, path, type, mode, modifiedAt }) => {
        const content = type === "dir" ? "" : type === "link" ? "dir" : readFileSync(path);
        const modifiedS = Math.floor(modifiedAt.getTime() / 1000);
        return [name, { type, mode: mode & 0o7777, modifiedS, content: sha256(content) }];
      });
      expect(await contentsOf(target)).toEqual(Object.fromEntries(expected));
    }),
    { numRuns: 30 },
  );
});

test("writeZip() takes more entries than the old format can count", async () => {
  const root = tempDir();
  writeFileSync(join(root, "f"), "x");
  const source = sourceOf(root, "f");
  const target = join(root, "a.zip");
  await writeZip(
    target,
    Array.from({ length: 70_000 }, (_, index) => ({ ...source, name: `${index}` })),
    0,
  );
  const file = await open(target);
  const count = await readZip(file, { limits: { ...DEFAULT_LIMITS, maxEntries: 100_000 } }, ({ members }) =>
    Promise.resolve(members.length),
  );
  await file.close();
  expect(count).toBe(70_000);
});

test("writeZip() never holds a large file in memory, nor follows a link that took its place", async () => {
  const root = tempDir();
  writeFileSync(join(root, "large"), "");
  truncateSync(join(root, "large"), 300 * 1024 * 1024);
  const source = sourceOf(root, "large");
  const before = process.memoryUsage().rss;
  const { size } = await writeZip(join(root, "a.zip"), [source], 1);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  expect(size).toBeLessThan(3 * 1024 * 1024);
  rmSync(source.path);
  symlinkSync("/etc/passwd", source.path);
  await expect(writeZip(join(root, "b.zip"), [source], 1)).rejects.toThrow("ELOOP");
});
