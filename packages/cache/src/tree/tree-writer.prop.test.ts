import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { withTempDir } from "@steps/testkit";
import { DEFAULT_LIMITS } from "@steps/transfer";
import { isCacheError } from "../cache-error.ts";
import { hashFolder } from "./tree-hash.ts";
import { createTreePlan, type EntryClaim } from "@steps/transfer/archive";
import type { WrittenTree } from "./tree-writer.ts";
import { createTreeWriter } from "./tree-writer.ts";

type Input = EntryClaim & { readonly content: string };

const part = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "A", "link", "dir") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("..", ".", "", ".git", "git~1", "nul", "a.", "a\\b", "é", "e\u0301", "~", "ß", "SS"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
);
const path = fc.oneof(
  { weight: 9, arbitrary: fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 8 }) },
);
const target = fc.array(fc.constantFrom("..", ".", "a", "b", "c", "link", "dir", "", "A"), { maxLength: 5 });
const entry: fc.Arbitrary<Input> = fc.record({
  path,
  type: fc.constantFrom("file", "link", "dir"),
  isExecutable: fc.boolean(),
  content: fc.oneof(
    target.map((parts) => parts.join("/")),
    fc.string({ maxLength: 8 }),
  ),
});

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function write(dir: string, entries: readonly Input[]): Promise<WrittenTree> {
  const plan = createTreePlan(DEFAULT_LIMITS);
  const planned = entries.map((claim) => ({ node: plan.add(claim), content: claim.content }));
  const writer = await createTreeWriter(dir, plan, { limits: DEFAULT_LIMITS });
  for (const { node, content } of planned) {
    if (node.type === "file") await writer.writeFile(node, Buffer.byteLength(content), once(content));
    if (node.type === "link") await writer.setLink(node, once(content));
  }
  return await writer.finish();
}

/** Yields the end of every link, as the kernel follows it. */
function* linkEnds(dir: string): Generator<string> {
  for (const name of readdirSync(dir)) {
    const at = join(dir, name);
    const stats = lstatSync(at);
    if (stats.isDirectory()) yield* linkEnds(at);
    if (!stats.isSymbolicLink()) continue;
    try {
      yield realpathSync(at);
    } catch {
      // It leads to nothing; as text it must still stay inside.
      yield resolve(realpathSync(dirname(at)), readlinkSync(at));
    }
  }
}

test("createTreeWriter() makes nothing outside its folder, and what it makes has the digest it says", async () => {
  let written = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async (entries) => {
      await withTempDir(async (home) => {
        const around = join(home, "x/y/z");
        mkdirSync(around, { recursive: true });
        const dir = join(around, "tree");
        try {
          const tree = await write(dir, entries);
          written += entries.length > 0 ? 1 : 0;
          const found = await hashFolder(dir, { maxEntries: 1000, maxTotalBytes: 1_000_000 });
          expect(found).toMatchObject({ gitTree: tree.gitTree });
          for (const end of linkEnds(dir)) expect(`${end}/`.startsWith(`${dir}/`)).toBe(true);
        } catch (error) {
          if (!isCacheError(error)) throw error;
          expect(["UNSAFE_ENTRY", "ARCHIVE_TOO_LARGE"]).toContain(error.code);
        }
        expect(readdirSync(around).filter((name) => name !== "tree")).toEqual([]);
        expect([readdirSync(home), readdirSync(join(home, "x")), readdirSync(join(home, "x/y"))]).toEqual([
          ["x"],
          ["y"],
          ["z"],
        ]);
      });
    }),
    { numRuns: 400 },
  );
  expect(written).toBeGreaterThan(20);
});

test("createTreeWriter() refuses a file that is there already", async () => {
  await withTempDir(async (home) => {
    const plan = createTreePlan(DEFAULT_LIMITS);
    const node = plan.add({ path: "a", type: "file" });
    const writer = await createTreeWriter(join(home, "tree"), plan, { limits: DEFAULT_LIMITS });
    await writer.writeFile(node, 1, once("x"));
    await expect(writer.writeFile(node, 1, once("y"))).rejects.toThrow("EEXIST");
    expect(readFileSync(join(home, "tree/a"), "utf8")).toBe("x");
    await expect(createTreeWriter(join(home, "tree"), plan, { limits: DEFAULT_LIMITS })).rejects.toThrow("EEXIST");
    chmodSync(join(home, "tree"), 0o700);
  });
});
