import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { createBlockUpload } from "./block-upload.ts";
import { createBudget } from "./budget.ts";

async function* bodyOf(text: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += 3) yield Buffer.from(text.slice(at, at + 3));
}

test("a blob is its blocks in the order of the list, however they arrived and whatever else did", async () => {
  const root = tempDir();
  let count = 0;
  const block = fc.record({ id: fc.nat(7), text: fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 10 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(block, { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat(20), { maxLength: 12 }),
      fc.boolean(),
      async (blocks, picks, isNearlyInOrder) => {
        const dir = join(root, String((count += 1)));
        mkdirSync(dir);
        const budget = createBudget(500, "Tests");
        const upload = await createBlockUpload({ dir, maxBytes: 250, budget });
        const last = new Map<string, string>();
        for (const { id, text } of blocks) {
          await upload.putBlock(String(id), bodyOf(text), text.length);
          // A block that is sent again lies behind the others, but keeps its place in this list.
          last.set(String(id), text);
        }
        const ids = [...last.keys()];
        const list = isNearlyInOrder ? ids : picks.map((pick) => ids[pick % ids.length] ?? "");
        await upload.commit(list);
        const expected = list.map((id) => last.get(id)).join("");
        const { path, size } = await upload.seal(expected.length);
        expect([size, readFileSync(path, "utf8")]).toEqual([expected.length, expected]);
        // Bytes that are not part of the blob are given back at once, and the rest with it.
        expect(() => budget.take(500 - size + 1)).toThrow("no more than 500");
        await upload.discard();
        budget.take(500);
      },
    ),
    { numRuns: 200 },
  );
});
