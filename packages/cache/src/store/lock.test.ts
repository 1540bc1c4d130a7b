import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { formatIdentity, processIdentity, sha256 } from "@steps/platform";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { openLayout } from "./layout.ts";
import { withLock } from "./lock.ts";

test("withLock() lets one in at a time, and the next when it fails", async () => {
  const layout = openLayout(join(tempDir(), "cache"));
  let inside = 0;
  let most = 0;
  const run = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
    throw new Error("no");
  };
  const all = await Promise.allSettled([1, 2, 3].map(() => withLock(layout, "key", { run })));
  expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect([most, readdirSync(layout.locks)]).toEqual([1, []]);
});

test("withLock() takes over from a process that is gone, and from nobody else", async () => {
  const layout = openLayout(join(tempDir(), "cache"));
  const path = join(layout.locks, sha256("key"));
  const gone = spawnSync(process.execPath, ["-e", ""]).pid;
  writeFileSync(path, formatIdentity({ ...processIdentity(), pid: gone }));
  expect(await withLock(layout, "key", { run: async () => "in" })).toBe("in");
  writeFileSync(path, formatIdentity({ ...processIdentity(), startTime: "1" }));
  expect(await withLock(layout, "key", { run: async () => "in" })).toBe("in");
  const elsewhere = { ...processIdentity(), boot: "other", host: "other" };
  writeFileSync(path, formatIdentity(elsewhere));
  const signal = AbortSignal.timeout(200);
  await expect(withLock(layout, "key", { signal, run: async () => "in" })).rejects.toMatchObject({ code: "CANCELLED" });
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(path, longAgo, longAgo);
  expect(await withLock(layout, "key", { run: async () => "in" })).toBe("in");
  writeFileSync(path, "");
  utimesSync(path, longAgo, longAgo);
  expect(await withLock(layout, "key", { run: async () => "in" })).toBe("in");
});
