import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import {
  buildZip,
  createGitRepository,
  hasProgram,
  startFileServer,
  startGitHttpServer,
  tempDir,
  withTempDir,
} from "./index.ts";

test("withTempDir() removes what was made in it, also after a failure", async () => {
  let made = "";
  const run = withTempDir(async (dir) => {
    made = dir;
    writeFileSync(join(dir, "a"), "");
    throw new Error("no");
  });
  await expect(run).rejects.toThrow("no");
  expect(existsSync(made)).toBe(false);
});

test("hasProgram() looks along the PATH, and names what is not there", () => {
  const skipped = join(tempDir(), "skipped");
  vi.stubEnv("STEPS_SKIPPED_FILE", skipped);
  expect([hasProgram("sh"), hasProgram("no-such-program-here")]).toEqual([true, false]);
  expect(readFileSync(skipped, "utf8")).toBe("no-such-program-here\n");
  vi.unstubAllEnvs();
});

test("createGitRepository() gives the same ids every time", async () => {
  const ids = await Promise.all(
    [tempDir(), tempDir()].map(async (dir) => {
      const repository = await createGitRepository(dir, { "a.txt": "one\n", run: { content: "x", mode: "100755" } });
      return await repository.revision();
    }),
  );
  expect(ids[0]).toBe(ids[1]);
});

test("startGitHttpServer() serves clones, counts them, and asks for credentials", async () => {
  const dir = tempDir();
  const repository = await createGitRepository(join(dir, "project"), { "a.txt": "one\n" });
  await using server = await startGitHttpServer(dir);
  await repository.git(["clone", "-q", `${server.url}/project.git`, join(dir, "copy")]);
  expect(readFileSync(join(dir, "copy/a.txt"), "utf8")).toBe("one\n");
  expect(server.counts).toEqual({ infoRefs: 1, lsRefs: 1, fetch: 1, receivePack: 0 });
  await using closed = await startGitHttpServer(dir, { auth: { username: "u", password: "p" } });
  await expect(repository.git(["ls-remote", `${closed.url}/project`])).rejects.toThrow(/Username|Authentication/);
});

test("startFileServer() answers conditional requests", async () => {
  await using server = await startFileServer({ "/a": "one" });
  const first = await fetch(`${server.url}/a`);
  expect(await first.text()).toBe("one");
  const again = await fetch(`${server.url}/a`, { headers: { "if-none-match": first.headers.get("etag") ?? "" } });
  expect([again.status, (await fetch(`${server.url}/b`)).status]).toEqual([304, 404]);
});

test.skipIf(!hasProgram("unzip"))("buildZip() writes what unzip reads", () => {
  const file = join(tempDir(), "a.zip");
  writeFileSync(
    file,
    buildZip([{ name: "d/" }, { name: "d/a.txt", content: "hello".repeat(99) }, { name: "b", content: "x" }]),
  );
  expect(execFileSync("unzip", ["-p", file, "d/a.txt"]).toString()).toBe("hello".repeat(99));
  expect(execFileSync("unzip", ["-tq", file]).toString()).toContain("No errors");
});
