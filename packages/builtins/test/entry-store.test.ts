import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { compileCache, snapshot, tempDir } from "@steps/testkit";
import { expect, onTestFinished, test } from "vitest";
import { entryPath, openArchive, openEntry, publishEntry } from "../src/gitlab/store/entry-store.ts";

async function publish(
  path: string,
  files: Readonly<Record<string, string>>,
  keep: readonly string[] = [],
): Promise<void> {
  await publishEntry(path, {
    keep,
    async write(dir) {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
      return await Promise.resolve({ names: Object.keys(files) });
    },
  });
}

async function startWorker(path: string, text: string): Promise<ChildProcess> {
  const args = ["--conditions=steps-source", join(import.meta.dirname, "publish-worker.ts"), path, text];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...compileCache() },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout as NonNullable<typeof child.stdout>, "data");
  return child;
}

/** The texts of an entry, which must be of one writing. */
function wholeEntry(path: string): string {
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    const entry = openEntry(path);
    if (entry === undefined) throw new Error("There is no entry");
    try {
      const texts = ["a", "b", "c"].map((name) => readFileSync(join(entry.dir, name), "utf8"));
      expect(new Set([...texts, entry.metadata["content"]])).toHaveLength(1);
      expect(readFileSync(join(entry.dir, "kept"), "utf8")).toBe("kept");
      return texts[0] as string;
    } catch (error) {
      // Replaced between two files.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new Error("The entry was never whole");
}

test("publishEntry() killed at any time leaves the old entry or the new one, and the next one tidies up", async () => {
  const path = entryPath(tempDir(), "a");
  await publish(path, { a: "x", b: "x", c: "x", kept: "kept" });
  for (let round = 0; round < 12; round += 1) {
    const child = await startWorker(path, `round ${round}`);
    await delay(7 * round);
    child.kill("SIGKILL");
    await once(child, "exit");
    if (openEntry(path)?.metadata["content"] !== undefined) wholeEntry(path);
  }
  await publish(path, { a: "last" }, ["kept"]);
  expect(snapshot(openEntry(path)?.dir ?? "")).toMatchObject({ a: "last", kept: "kept" });
  expect(readdirSync(join(path, "../.generations"))).toHaveLength(1);
});

test("publishEntry() of two processes at once is seen as one entry or the other, never as both", async () => {
  const path = entryPath(tempDir(), "a");
  await publish(path, { a: "x", b: "x", c: "x", kept: "kept" });
  const workers = [await startWorker(path, "one"), await startWorker(path, "two")];
  const seen = new Set<string>();
  for (let round = 0; seen.size < 2; round += 1) {
    if (round % 10 === 0) await delay(1);
    if (openEntry(path)?.metadata["content"] === undefined) continue;
    seen.add(wholeEntry(path).split(" ")[0] as string);
  }
  expect([...seen].toSorted()).toEqual(["one", "two"]);
  for (const worker of workers) worker.kill("SIGKILL");
});

test("publishEntry() whose writer fails leaves the old entry and nothing else", async () => {
  const path = entryPath(tempDir(), "a");
  await publish(path, { a: "1" });
  await expect(publishEntry(path, { write: () => Promise.reject(new Error("full")) })).rejects.toThrow("full");
  expect(openEntry(path)?.metadata).toEqual({ names: ["a"] });
  expect(readdirSync(join(path, "../.generations"))).toHaveLength(1);
});

test("publishEntry() leaves other entries of the store alone", async () => {
  const store = tempDir();
  await Promise.all(["a", "b", "a b"].map((name) => publish(entryPath(store, name), { [name]: name })));
  await publish(entryPath(store, "a"), { a: "2" });
  expect(["a", "b", "a b"].map((name) => openEntry(entryPath(store, name))?.metadata["names"])).toEqual([
    ["a"],
    ["b"],
    ["a b"],
  ]);
});

test("openArchive() knows no entry whose files are gone or make no sense", async () => {
  const path = entryPath(tempDir(), "a");
  expect(await openArchive(path, "a")).toBeUndefined();
  await publish(path, {});
  writeFileSync(join(openEntry(path)?.dir ?? "", "metadata.json"), "{");
  expect(await openArchive(path, "a")).toBeUndefined();
  rmSync(join(path, "../.generations"), { recursive: true });
  expect(await openArchive(path, "a")).toBeUndefined();
});

test("entryPath() gives each name a folder directly in the store", () => {
  const names = ["a", "A", "a/b", "../x", "", " ", "x".repeat(5000), "é", "."];
  const paths = names.map((name) => entryPath("/store", name));
  expect(new Set(paths)).toHaveLength(names.length);
  for (const path of paths) expect(path).toMatch(/^\/store\/[a-z0-9-]{1,76}$/);
});
