import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository, type GitRepository, hasProgram, startGitHttpServer, tempDir } from "@steps/testkit";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { cleanUpCheckout } from "../src/checkout/checkout-config.ts";
import { makeTemplate, makeWorld, type Template, type World } from "./checkout-world.ts";

let template: Template;
let root: World["root"];
let project: World["project"];
let workspace: World["workspace"];
let env: World["env"];
let fetched: World["fetched"];
let git: World["git"];
let checkout: World["checkout"];
let read: World["read"];

beforeAll(async () => {
  template = await makeTemplate();
});

beforeEach(async () => {
  ({ root, project, workspace, env, fetched, git, checkout, read } = await makeWorld(template));
});

describe("credentials", () => {
  const TOKEN = "glcbt-job-token-of-64";

  async function serve(username: string, password: string) {
    const server = await startGitHttpServer(join(root, "served"), { auth: { username, password } });
    onTestFinished(() => server.close());
    return server;
  }

  function everything(dir: string): string {
    return readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
      .join("\n");
  }

  test("of the job are used, and left nowhere", async () => {
    const server = await serve("gitlab-ci-token", TOKEN);
    await fetched({ depth: 1 });
    const url = `${server.url.replace("://", `://gitlab-ci-token:${TOKEN}@`)}/group/project.git`;
    const over = { CI_REPOSITORY_URL: url, CI_JOB_TOKEN: TOKEN };
    // The arguments of git are visible to everybody on the machine.
    const bin = join(root, "bin");
    mkdirSync(bin);
    const script = `#!/bin/sh\necho "$@" >> '${root}/arguments'\nPATH='${process.env["PATH"]}' exec git "$@"\n`;
    writeFileSync(join(bin, "git"), script, { mode: 0o755 });
    Object.assign(over, { PATH: `${bin}:${process.env["PATH"]}` });
    const temporary = tempDir();
    vi.stubEnv("TMPDIR", temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const beside = await checkout({ path: "copy", ref: "dev", "persist-credentials": "true" }, over);
    const asked = await checkout({ path: "asked", ref: "dev", token: TOKEN, "persist-credentials": "true" }, over);
    const here = await checkout({ ref: "v1" }, over);
    expect(read("copy/a.txt")).toBe("dev");
    expect(await git(join(workspace, "copy"), "config", "remote.origin.url")).toBe(`${server.url}/group/project.git`);
    const encoded = Buffer.from(`gitlab-ci-token:${TOKEN}`).toString("base64");
    for (const text of [
      everything(workspace),
      everything(env["RUNNER_TEMP"] as string),
      JSON.stringify([beside, asked, here]),
    ]) {
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain(encoded);
    }
    expect(asked.warnings.join("\n")).toContain("the job's own are not for its steps");
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("that are wrong are said without being shown", async () => {
    const server = await serve("gitlab-ci-token", TOKEN);
    await fetched({ depth: 1 });
    const url = `${server.url.replace("://", "://gitlab-ci-token:wrong-secret@")}/group/project.git`;
    const failed = checkout({ path: "copy", ref: "dev" }, { CI_REPOSITORY_URL: url });
    await expect(failed).rejects.toMatchObject({
      code: "AUTH_FAILED",
      message: expect.not.stringContaining("wrong-secret"),
    });
  });

  test("that are given are kept when that is asked for, in a file that the post removes", async () => {
    const server = await serve("x-access-token", "pat-1");
    await fetched({ depth: 1 });
    const url = `${server.url.replace("://", `://gitlab-ci-token:${TOKEN}@`)}/group/project.git`;
    const over = { CI_REPOSITORY_URL: url, CI_JOB_TOKEN: TOKEN };
    const { state } = await checkout({ path: "copy", ref: "dev", token: "pat-1" }, over);
    const copy = join(workspace, "copy");
    const key = `http.${server.url}/.extraheader`;
    expect(state).toEqual({});
    await expect(git(copy, "config", "--get", key)).rejects.toThrow();

    const kept = await checkout({ path: "copy", ref: "dev", token: "pat-1", "persist-credentials": "true" }, over);
    expect(await git(copy, "config", "--get", key)).toBe(
      `AUTHORIZATION: Basic ${Buffer.from("x-access-token:pat-1").toString("base64")}`,
    );
    await git(copy, "fetch", "-q", "origin", "main");
    expect(everything(join(copy, ".git"))).not.toContain(Buffer.from("pat-1").toString("base64").slice(2, -3));
    const [file = ""] = readdirSync(env["RUNNER_TEMP"] as string);
    expect(statSync(join(env["RUNNER_TEMP"] as string, file)).mode & 0o077).toBe(0);
    expect(await git(copy, "config", "--get", "includeIf.gitdir:/github/workspace/copy/.git.path")).toBe(
      `/github/runner_temp/${file}`,
    );

    const place = { env: { ...env, ...over }, workDir: workspace, log: () => undefined, setOutput: () => undefined };
    await cleanUpCheckout(kept.state, place);
    await cleanUpCheckout(kept.state, place);
    await cleanUpCheckout({}, place);
    expect(readdirSync(env["RUNNER_TEMP"] as string)).toEqual([]);
    expect(readFileSync(join(copy, ".git/config"), "utf8")).not.toMatch(/includeIf|credentials/i);
    await expect(git(copy, "fetch", "-q", "origin", "main")).rejects.toThrow();
  });

  test("reach submodules on the same server, which are often named by SSH", async () => {
    const server = await serve("gitlab-ci-token", TOKEN);
    const inner = await createGitRepository(join(root, "served/group/inner"), { deep: "deep" });
    const middle = await createGitRepository(join(root, "served/group/middle"), { mid: "mid" });
    const { hostname, port } = new URL(server.url);
    await addModule(middle, { path: "inner", url: "../inner.git", commit: await inner.revision() });
    await addModule(project, {
      path: "by-ssh",
      url: `ssh://git@${hostname}/group/middle.git`,
      commit: await middle.revision(),
    });
    const commit = await addModule(project, { path: "near", url: "../middle.git", commit: await middle.revision() });
    expect(port).not.toBe("");
    const over = {
      CI_REPOSITORY_URL: `${server.url.replace("://", `://gitlab-ci-token:${TOKEN}@`)}/group/project.git`,
      GITHUB_SHA: commit,
    };
    await fetched({ depth: 1, commit });
    await checkout({ submodules: "true" }, over);
    expect([read("near/mid"), read("by-ssh/mid")]).toEqual(["mid", "mid"]);
    expect(existsSync(join(workspace, "near/inner/deep"))).toBe(false);
    await checkout({ path: "copy", submodules: "recursive" }, over);
    expect(read("copy/near/inner/deep")).toBe("deep");
    expect(everything(workspace)).not.toContain(TOKEN);
  });
});

/** Adds a submodule without fetching it. */
async function addModule(
  repository: GitRepository,
  module: { path: string; url: string; commit: string },
): Promise<string> {
  const { path, url, commit } = module;
  await repository.git(["config", "--file", ".gitmodules", `submodule.${path}.path`, path]);
  await repository.git(["config", "--file", ".gitmodules", `submodule.${path}.url`, url]);
  await repository.git(["add", ".gitmodules"]);
  await repository.git(["update-index", "--add", "--cacheinfo", `160000,${commit},${path}`]);
  await repository.git(["commit", "-q", "-m", `Add ${path}`]);
  return await repository.revision();
}

describe("git-lfs", () => {
  test.skipIf(!hasProgram("git-lfs"))("brings its files where that is asked for", async () => {
    await project.git(["lfs", "install", "--local", "--skip-repo"]);
    await project.git(["lfs", "track", "*.bin"]);
    const commit = await project.commit({ "big.bin": "the whole content" });
    const over = { GITHUB_SHA: commit };
    await fetched({ depth: 1, commit });
    expect(read("big.bin")).toContain("version https://git-lfs");
    await checkout({ lfs: "true" }, over);
    expect(read("big.bin")).toBe("the whole content");
    await checkout({ path: "copy", lfs: "true" }, over);
    expect(read("copy/big.bin")).toBe("the whole content");
    await checkout({ path: "pointers" }, over);
    expect(read("pointers/big.bin")).toContain("version https://git-lfs");
  });

  test("that is not there is said", async () => {
    await fetched();
    const bin = join(root, "bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "git"),
      `#!/bin/sh\nfor a; do [ "$a" = lfs ] && exit 1; done\nPATH='${process.env["PATH"]}' exec git "$@"\n`,
      { mode: 0o755 },
    );
    await expect(checkout({ lfs: "true" }, { PATH: `${bin}:/usr/bin:/bin` })).rejects.toMatchObject({
      code: "BUILTIN_FAILED",
      message: expect.stringContaining("lfs"),
    });
  });
});
