import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Value } from "@steps/model";
import { createGitRepository, snapshot, tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { uploadArtifacts } from "../src/gitlab/artifacts/artifacts-upload.ts";
import { claimsOf } from "../src/gitlab/prepare/id-token.ts";
import { cleanUpJob } from "../src/gitlab/prepare/cleanup.ts";
import { prepareJob } from "../src/gitlab/prepare/prepare.ts";
import { recordRelease } from "../src/gitlab/release/release.ts";
import { gitlabWorld } from "./gitlab-world.ts";

describe("gitlab/prepare and gitlab/cleanup", () => {
  test("write variables of type file for their owner alone, and remove them", async () => {
    const world = gitlabWorld();
    const tmp_dir = join(tempDir(), "project.tmp");
    const variables: Value[] = [
      { key: "KUBECONFIG", value: "a: b\n", file: true },
      { key: "PLAIN", value: "1" },
      { key: "TOKEN", value: "s3cret", masked: true },
    ];
    const secrets = { DB: { value: "p" }, API: { value: "q", file: false } };
    const { outputs, exports } = await world.run("prepare", prepareJob, { tmp_dir, variables, secrets });
    expect(outputs).toEqual({ tmp_dir, gitlab_env_file: join(tmp_dir, "gitlab_runner_env"), jwks_file: "" });
    expect(exports).toEqual({
      KUBECONFIG: { value: join(tmp_dir, "KUBECONFIG"), isSensitive: false },
      PLAIN: { value: "1", isSensitive: false },
      TOKEN: { value: "s3cret", isSensitive: true },
      DB: { value: join(tmp_dir, "DB"), isSensitive: false },
      API: { value: "q", isSensitive: true },
    });
    expect(readFileSync(join(tmp_dir, "KUBECONFIG"), "utf8")).toBe("a: b\n");
    expect([statSync(tmp_dir).mode & 0o777, statSync(join(tmp_dir, "DB")).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(world.said()).toBe("Set KUBECONFIG, PLAIN, TOKEN, DB, API");
    expect((await world.run("cleanup", cleanUpJob, { tmp_dir })).outputs).toEqual({ removed: true });
    expect(existsSync(tmp_dir)).toBe(false);
    expect((await world.run("cleanup", cleanUpJob, { tmp_dir })).outputs).toEqual({ removed: false });
  });

  test("refuse names that are paths, links in the place of the folder, and secrets without a value", async () => {
    const world = gitlabWorld();
    const tmp_dir = join(tempDir(), "x.tmp");
    const run = async (more: Readonly<Record<string, Value>>): Promise<unknown> =>
      await world.run("prepare", prepareJob, { tmp_dir, ...more });
    await expect(run({ variables: [{ key: "../x", value: "", file: true }] })).rejects.toThrow("no name of a variable");
    await expect(run({ secrets: { DB: { vault: "x" } } })).rejects.toThrow('Cannot resolve secret "DB"');
    await expect(run({ tmp_dir: "here" })).rejects.toThrow("is not absolute");
    const link = join(tempDir(), "link");
    symlinkSync(tempDir(), link);
    await expect(run({ tmp_dir: link })).rejects.toThrow("it is a link");
  });

  test("cleanup removes no folder that prepare has not made", async () => {
    const world = gitlabWorld();
    const tmp_dir = tempDir();
    writeFileSync(join(tmp_dir, "precious"), "1");
    expect((await world.run("cleanup", cleanUpJob, { tmp_dir })).outputs).toEqual({ removed: false });
    expect(readdirSync(tmp_dir)).toEqual(["precious"]);
  });

  test("cleanup resets and cleans the project where flags are given", async () => {
    const world = gitlabWorld();
    await createGitRepository(world.project, { tracked: "1", ".gitignore": "ignored\n" });
    for (const [name, text] of [
      ["tracked", "2"],
      ["new", "3"],
      ["ignored", "4"],
      ["keep", "5"],
    ] as const)
      writeFileSync(join(world.project, name), text);
    mkdirSync(join(world.project, "dir"));
    const tmp_dir = join(tempDir(), "x");
    await world.run("cleanup", cleanUpJob, { tmp_dir, clean_flags: "none" });
    expect(existsSync(join(world.project, "new"))).toBe(true);
    await world.run("cleanup", cleanUpJob, { tmp_dir, clean_flags: "-ffdx -e keep" });
    const files = Object.entries(snapshot(world.project)).filter(([name]) => !name.startsWith(".git/"));
    expect(Object.fromEntries(files)).toEqual({ tracked: "1", ".gitignore": "ignored\n", keep: "5" });
    await expect(world.run("cleanup", cleanUpJob, { tmp_dir, clean_flags: "x" })).rejects.toThrow("are no flags");
  });

  test("tokens are checked by the key beside them, and each job has its own", async () => {
    const world = gitlabWorld();
    const id_tokens = { A: { aud: "https://vault" }, B: { aud: ["x", "y"] }, GIVEN: { aud: "z", value: "t.o.k" } };
    const make = async (): Promise<{ token: string; jwks: { keys: (JsonWebKey & { kid: string })[] }; b: string }> => {
      const tmp_dir = join(tempDir(), "x.tmp");
      const claims = { project_path: "group/p", environment_protected: "false" };
      const { outputs, exports } = await world.run("prepare", prepareJob, { tmp_dir, id_tokens, claims });
      expect(exports?.["GIVEN"]).toEqual({ value: "t.o.k", isSensitive: true });
      expect(exports?.["A"]?.isSensitive).toBe(true);
      const jwks = JSON.parse(readFileSync(outputs["jwks_file"] as string, "utf8")) as { keys: [] };
      return { token: exports?.["A"]?.value ?? "", b: exports?.["B"]?.value ?? "", jwks };
    };
    const [one, two] = [await make(), await make()];
    const [head = "", body = "", signature = ""] = one.token.split(".");
    const checks = [one, two].map(({ jwks }) => {
      const key = createPublicKey({ key: jwks.keys[0] as JsonWebKey, format: "jwk" });
      return verify("RSA-SHA256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url"));
    });
    expect(checks).toEqual([true, false]);
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(read(head)).toEqual({ alg: "RS256", kid: one.jwks.keys[0]?.kid, typ: "JWT" });
    expect(read(body)).toMatchObject({ aud: "https://vault", project_path: "group/p", environment_protected: "false" });
    expect(read(one.b.split(".")[1] ?? "")).toMatchObject({ aud: ["x", "y"] });
    await expect(
      world.run("prepare", prepareJob, { tmp_dir: join(tempDir(), "y"), id_tokens: { A: {} } }),
    ).rejects.toThrow("no aud");
  });

  test("claimsOf() takes the claims of GitLab from the variables of the job", () => {
    const env = {
      CI_PROJECT_PATH: "g/p",
      CI_COMMIT_REF_NAME: "v1",
      CI_COMMIT_TAG: "v1",
      CI_SERVER_URL: "https://git.example.com",
      CI_JOB_ID: "7",
    };
    expect(claimsOf("a", { env, claims: {}, nowS: 100 })).toMatchObject({
      iss: "https://git.example.com",
      sub: "project_path:g/p:ref_type:tag:ref:v1",
      ref_path: "refs/tags/v1",
      job_id: "7",
      iat: 100,
      nbf: 95,
      exp: 3700,
      aud: "a",
    });
  });
});

describe("gitlab/release", () => {
  test("records the request, says that nothing was published, and leaves artifacts as they are", async () => {
    const world = gitlabWorld({ "CHANGES.md": "# 1.0\n", a: "1" });
    const job = { artifacts_dir: world.store, job: "release" };
    const uploaded = await world.run("artifacts-upload", uploadArtifacts, { ...job, paths: ["a"] });
    const { outputs } = await world.run("release", recordRelease, {
      ...job,
      tag_name: "v1",
      description: "CHANGES.md",
      milestones: ["m1"],
      released_at: "2026-01-31T12:00:00Z",
      assets: { links: [{ name: "x", url: "https://example.com/x", filepath: "/bin/x", link_type: "package" }] },
    });
    const payload = {
      tag_name: "v1",
      name: "v1",
      description: "# 1.0\n",
      milestones: ["m1"],
      released_at: "2026-01-31T12:00:00Z",
      assets: {
        links: [{ name: "x", url: "https://example.com/x", direct_asset_path: "/bin/x", link_type: "package" }],
      },
    };
    expect(outputs).toEqual({ payload });
    expect(world.said()).toContain("Nothing was published. On GitLab this would be the release:");
    const folder = join(world.store, uploaded.outputs["archive"] as string, "..");
    expect(JSON.parse(readFileSync(join(folder, "release.json"), "utf8"))).toEqual(payload);
    expect(existsSync(join(folder, "artifacts.zip"))).toBe(true);
  });

  test.each([
    [{ tag_name: "" }, 'the input "tag_name" is empty'],
    [{ description: "" }, 'the input "description" is empty'],
    [{ description: "/etc/passwd" }, "is a file outside of the project"],
    [{ released_at: "tomorrow" }, "is no time such as"],
    [{ assets: { links: [{ name: "x" }] } }, "links[0] needs a name and a url"],
    [{ assets: { links: [{ name: "x", url: "x" }] } }, "has no valid url"],
    [{ assets: { links: [{ name: "x", url: "https://x", filepath: "x" }] } }, "does not begin with a slash"],
    [{ assets: { links: [{ name: "x", url: "https://x", link_type: "y" }] } }, "link_type that is none of"],
  ])("refuses %j", async (wrong, problem) => {
    const world = gitlabWorld();
    await expect(world.run("release", recordRelease, { tag_name: "v1", description: "x", ...wrong })).rejects.toThrow(
      problem,
    );
  });
});
