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
    // The clients would send uploads to a proxy, were the services' host not excepted.
    const env = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1" };
    const job = openJob(first, { serverUrl, env });
    mkdirSync(join(job.workspace, "deps"));
    writeFileSync(join(job.workspace, "deps", "a.txt"), "one");
    const saved = await job.call(
      "cache",
      ["restoreCache", ["deps"], "npm-1", ["npm-"]],
      ["saveCache", ["deps"], "npm-1"],
      ["saveCache", ["deps"], "npm-1"],
    );
    expect([saved.results, saved.errors]).toEqual([
      [null, 1, -1],
      [undefined, undefined, undefined],
    ]);
    expect(saved.log).toContain(`Cache service version: ${name}`);
    expect(saved.log).toContain("Unable to reserve cache with key npm-1, another job may be creating this cache");
    await first.close();

    const next = openJob(await openServices({ cacheDir }), { serverUrl });
    const file = join(next.workspace, "deps", "a.txt");
    // The version of a cache is a digest of the paths as they were written.
    const other = await next.call("cache", ["restoreCache", ["deps"], "npm-1"], ["restoreCache", ["other"], "npm-1"]);
    expect(other.results).toEqual(["npm-1", null]);
    expect(readFileSync(file, "utf8")).toBe("one");
    rmSync(file);
    expect((await next.call("cache", ["restoreCache", ["deps"], "npm-2", ["npm-"]])).results).toEqual(["npm-1"]);
    expect(readFileSync(file, "utf8")).toBe("one");
  },
);
