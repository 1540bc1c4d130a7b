import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { isNativeCheckout, readCheckoutInputs } from "./checkout-inputs.ts";
import { openTarget } from "./checkout-place.ts";
import { readRef } from "./checkout-ref.ts";

describe("isNativeCheckout", () => {
  const env = {
    GITHUB_REPOSITORY: "group/project",
    CI_PROJECT_PATH: "group/sub/project",
    GITHUB_SERVER_URL: "https://github.com",
    CI_SERVER_URL: "https://gitlab.example.com",
  };

  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ repository: "" }, true],
    [{ repository: "Group/Project" }, true],
    [{ Repository: " group/sub/project " }, true],
    [{ repository: "other/x" }, false],
    [{ repository: "group/project-2" }, false],
    [{ "github-server-url": "https://github.com/" }, true],
    [{ "github-server-url": "https://gitlab.example.com" }, true],
    [{ "github-server-url": "https://elsewhere.example.com" }, false],
    [{ repository: "group/project", "github-server-url": "https://elsewhere.example.com" }, false],
    [{ ref: "v1", path: "x" }, true],
  ])("%j: %s", (inputs, isNative) => {
    expect(isNativeCheckout(inputs, { env })).toBe(isNative);
  });

  test("is no other repository where the job does not say which is its own", () => {
    expect(isNativeCheckout({ repository: "a/b" }, { env: {} })).toBe(false);
  });
});

describe("readCheckoutInputs", () => {
  function read(inputs: Record<string, string>) {
    const warnings: string[] = [];
    return { ...readCheckoutInputs(inputs, (line) => warnings.push(line)), warnings };
  }

  test("takes empty ones for absent ones", () => {
    const { warnings, ...absent } = read({});
    expect(absent).toMatchObject({
      fetchDepth: undefined,
      clean: undefined,
      isCone: true,
      setSafeDirectory: true,
      persistCredentials: false,
    });
    expect(read({ ref: "", "fetch-depth": "", clean: "", "set-safe-directory": "", "ssh-key": "", lfs: "" })).toEqual({
      ...absent,
      warnings,
    });
    expect(warnings).toEqual([]);
  });

  test("reads them as the action does", () => {
    expect(read({ "fetch-depth": "0" }).fetchDepth).toBe(0);
    expect(read({ "fetch-depth": "2.9" }).fetchDepth).toBe(2);
    expect(read({ "fetch-depth": "-3" }).fetchDepth).toBe(0);
    expect(read({ "fetch-depth": "all" }).fetchDepth).toBe(0);
    expect(read({ CLEAN: "False" }).clean).toBe(false);
    expect(read({ submodules: "TRUE" }).submodules).toBe("own");
    expect(read({ submodules: "recursive" }).submodules).toBe("recursive");
    expect(read({ submodules: "false" }).submodules).toBe("none");
    expect(read({ "sparse-checkout": " src\n\n docs \n" }).sparse).toEqual(["src", "docs"]);
    expect(read({ "sparse-checkout-cone-mode": "false" }).isCone).toBe(false);
  });

  test("says what it does not know and what has no effect, and shows no values", () => {
    const { warnings } = read({
      "fetch-deep": "1",
      "ssh-key": "PRIVATE",
      filter: "blob:none",
      "show-progress": "true",
    });
    expect(warnings).toEqual([
      'Input "fetch-deep" is not known to the checkout',
      'Input "ssh-key" has no effect in the checkout of the job\'s own project',
      'Input "filter" has no effect in the checkout of the job\'s own project',
    ]);
  });
});

describe("readRef", () => {
  const sha = "0123456789abcdef0123456789abcdef01234567";
  const env = { GITHUB_SHA: sha, GITHUB_REF: "refs/heads/main" };

  test("of nothing, and of the job's own ref, is the job's commit", () => {
    expect(readRef("", env)).toEqual({ ref: "refs/heads/main", commit: sha, names: [], isDefault: true });
    expect(readRef("main", env)).toEqual({ ref: "main", commit: sha, names: ["refs/heads/main"], isDefault: false });
    expect(readRef("refs/heads/main", env)).toMatchObject({ commit: sha, names: ["refs/heads/main"] });
    expect(readRef("v1", { CI_COMMIT_SHA: sha, CI_COMMIT_TAG: "v1" })).toMatchObject({
      commit: sha,
      names: ["refs/tags/v1"],
    });
    const ofRequest = { CI_COMMIT_SHA: sha, CI_MERGE_REQUEST_IID: "7" };
    expect(readRef("", ofRequest)).toMatchObject({ ref: "refs/pull/7/merge", commit: sha });
    expect(readRef("refs/pull/7/merge", ofRequest)).toMatchObject({ commit: sha });
    expect(readRef("", {})).toEqual({ ref: "", commit: undefined, names: [], isDefault: true });
    expect(readRef("", { GITHUB_SHA: "short", CI_COMMIT_BRANCH: "b" })).toMatchObject({
      ref: "refs/heads/b",
      commit: undefined,
    });
  });

  test("of a commit gives no ref back", () => {
    expect(readRef(sha.toUpperCase(), {})).toEqual({ ref: "", commit: sha, names: [], isDefault: false });
    expect(readRef("a".repeat(64), {})).toMatchObject({ commit: "a".repeat(64) });
  });

  test("of a name is a branch, then a tag", () => {
    expect(readRef("dev/x", env)).toMatchObject({ commit: undefined, names: ["refs/heads/dev/x", "refs/tags/dev/x"] });
    expect(readRef("0123456", env).names).toHaveLength(2);
  });

  test("of a pull request is GitLab's merge request, too", () => {
    expect(readRef("refs/pull/12/head", env).names).toEqual(["refs/pull/12/head", "refs/merge-requests/12/head"]);
  });

  test.each(
    [
      "--upload-pack=x",
      "a b",
      "a..b",
      "a:b",
      "+a",
      "a^",
      "x\n",
      "@{-1}",
      "/a",
      "a/",
      "a//b",
      ".a",
      "a/.b",
      "a.lock",
      "a*",
      "x".repeat(2000),
    ].filter((ref) => ref !== "+a"),
  )("refuses %j", (ref) => {
    expect(() => readRef(ref, env)).toThrow(expect.objectContaining({ code: "BUILTIN_FAILED" }));
  });
});

describe("openTarget", () => {
  function workspace(): string {
    const dir = join(tempDir(), "work");
    mkdirSync(dir);
    return dir;
  }

  test("makes a folder in the workspace", () => {
    const dir = workspace();
    expect(openTarget(dir, "a/b")).toBe(join(dir, "a/b"));
    expect(openTarget(dir, "./a/../c/")).toBe(join(dir, "c"));
    expect(openTarget(dir, join(dir, "d"))).toBe(join(dir, "d"));
    expect(openTarget(dir, "..data")).toBe(join(dir, "..data"));
    expect(openTarget(dir, ".")).toBe(dir);
  });

  test.each(["..", "../x", "a/../../x", "/tmp/elsewhere", "../work-2"])("refuses %j", (path) => {
    expect(() => openTarget(workspace(), path)).toThrow(/outside of the workspace/);
  });

  test("refuses folders of git", () => {
    expect(() => openTarget(workspace(), ".git/hooks")).toThrow(/folder of git/);
    expect(() => openTarget(workspace(), "a/.GIT")).toThrow(/folder of git/);
  });

  test("refuses links that lead out of the workspace, or nowhere, and files", () => {
    const dir = workspace();
    const elsewhere = tempDir();
    symlinkSync(elsewhere, join(dir, "out"));
    symlinkSync("missing", join(dir, "nowhere"));
    writeFileSync(join(dir, "file"), "");
    expect(() => openTarget(dir, "out")).toThrow(/outside/);
    expect(() => openTarget(dir, "out/deep/er")).toThrow(/outside/);
    expect(() => openTarget(dir, "nowhere")).toThrow(/leads nowhere/);
    expect(() => openTarget(dir, "file")).toThrow(/no folder/);
    expect(() => openTarget(dir, "file/x")).toThrow(/no folder/);
    mkdirSync(join(dir, "real"));
    symlinkSync("real", join(dir, "in"));
    expect(openTarget(dir, "in/x")).toBe(join(dir, "real/x"));
  });
});
