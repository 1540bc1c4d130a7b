import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hasProgram, tempDir } from "@steps/testkit";
import { openJob, openServices } from "./fixtures.ts";

const GENERATIONS = [
  { name: "v2", serverUrl: "https://github.com" },
  { name: "v1", serverUrl: "https://gitlab.example.com" },
];

test.skipIf(!hasProgram("tar") || !hasProgram("zstd")).each(GENERATIONS)(
  "@actions/cache saves, finds and restores by $name",
  async ({ name, serverUrl }) => {
    const cacheDir = join(tempDir(), "cache");
    const first = await openServices({ cacheDir });
    const job = openJob(first, { serverUrl });
    mkdirSync(join(job.workspace, "deps"));
    writeFileSync(join(job.workspace, "deps", "a.txt"), "one");
    const miss = await job.call("cache", "restoreCache", ["deps"], "npm-1", ["npm-"]);
    expect(miss).toEqual({ result: null, log: expect.stringContaining(`Cache service version: ${name}`) as string });
    expect(await job.call("cache", "saveCache", ["deps"], "npm-1")).toMatchObject({ result: 1 });

    const again = await job.call("cache", "saveCache", ["deps"], "npm-1");
    expect(again.result).toBe(-1);
    expect(again.log).toContain("Unable to reserve cache with key npm-1, another job may be creating this cache");
    await first.close();

    const next = openJob(await openServices({ cacheDir }), { serverUrl });
    // The version of a cache is a digest of the paths as they were written.
    expect(await next.call("cache", "restoreCache", ["deps"], "npm-1")).toMatchObject({ result: "npm-1" });
    expect(readFileSync(join(next.workspace, "deps", "a.txt"), "utf8")).toBe("one");
    rmSync(join(next.workspace, "deps"), { recursive: true });
    expect(await next.call("cache", "restoreCache", ["deps"], "npm-2", ["npm-"])).toMatchObject({ result: "npm-1" });
    expect(readFileSync(join(next.workspace, "deps", "a.txt"), "utf8")).toBe("one");
    expect(await next.call("cache", "restoreCache", ["other"], "npm-1")).toMatchObject({ result: null });
  },
);
