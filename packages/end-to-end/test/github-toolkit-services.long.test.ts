import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasProgram } from "@steps/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assertEnded, createKitUser, type Kit, startKit, stepOf } from "./github-toolkit-harness.ts";

const KEEP = `
inputs: {path: {}, key: {}, restore-keys: {}}
runs: {using: node24, main: ../dist/keep.js, post: ../dist/keep.js, post-if: success()}
`;

// As published composite actions are: a cache, and an artifact of what came out of it, both by name and by `$/`.
const BUILD = `
inputs: {key: {default: "\${{ runner.os }}-\${{ hashFiles('lock') }}"}}
outputs:
  hit: {value: "\${{ steps.cache.outputs.cache-hit }}"}
  names: {value: "\${{ steps.artifact.outputs.names }}"}
runs:
  using: composite
  steps:
    - {id: cache, uses: acme/kit/keep@v1, with: {path: deps, key: "\${{ inputs.key }}"}}
    - {id: artifact, if: steps.cache.outputs.cache-hit != 'true', uses: $/hand-over, with: {name: "of \${{ inputs.key }}"}}
    - {run: test -z "$ACTIONS_RUNTIME_TOKEN$ACTIONS_CACHE_URL$ACTIONS_RESULTS_URL", shell: bash}
`;

const GENERATIONS = [
  { name: "v2", args: [] },
  { name: "v1", args: ["--github-server-url", "https://gitlab.example.com"] },
];

let kit: Kit;

beforeAll(async () => {
  kit = await startKit(
    {
      keep: KEEP,
      "hand-over": "inputs: {name: {}}\nruns: {using: node24, main: ../dist/hand-over.js}",
      build: BUILD,
      look: "inputs: {path: {}, key: {}}\nruns: {using: node24, main: ../dist/look.js}",
    },
    { esm: ["keep", "hand-over", "look"] },
  );
});

afterAll(() => kit.close());

test.skipIf(!hasProgram("tar")).each(GENERATIONS)("@actions/cache in two jobs by $name", async ({ name, args }) => {
  const user = createKitUser(kit, { hasPlainPaths: true });
  const step = (key: string, name = "keep"): object => ({
    name,
    action: "acme/kit/keep@v1",
    inputs: { path: "deps\n~/.more", key, "restore-keys": "deps-\nother-" },
  });
  const first = await user.ci([step("deps-1"), { name: "between", script: "cat deps/made" }], { args });
  assertEnded(first, 0);
  expect(await first.outputs("keep")).toEqual({ available: "true", "cache-hit": "false", hit: "" });
  expect(first.stdout).toContain("made for deps-1");
  expect(first.stderr).not.toContain("masked");
  expect(first.stdout).toContain("saved true\n");
  rmSync(join(user.workspace, "deps"), { recursive: true });

  const look = { name: "look", action: "acme/kit/look@v1", inputs: { path: "deps\n~/.more", key: "deps-1" } };
  const second = await user.ci([look, step("deps-1"), step("deps-2", "again")], { args });
  assertEnded(second, 0);
  expect(await second.outputs("look")).toEqual({ found: "deps-1", version: name });
  expect(await second.outputs("keep")).toEqual({
    available: "true",
    "cache-hit": "true",
    hit: "deps-1",
    content: "made for deps-1",
  });
  expect(second.stdout).toContain("nothing to save\n");
  rmSync(join(user.workspace, "deps"), { recursive: true });

  const failing = await user.ci([step("deps-2"), step("deps-3", "third"), { name: "fails", script: "exit 1" }], {
    args,
  });
  assertEnded(failing, 1);
  expect(await failing.outputs("keep")).toMatchObject({
    "cache-hit": "true",
    hit: "deps-2",
    content: "made for deps-1",
  });
  // `post-if: success()`
  const post = await stepOf(failing.trace(), "Post keep");
  expect(post.det?.status).toBe("skipped");
  expect(failing.stdout).not.toContain("saved");
});

test("@actions/artifact uploads and downloads within one job", async () => {
  const user = createKitUser(kit);
  const artifactDir = join(user.dir, "artifacts");
  const ended = await user.ci(
    [
      { name: "first", action: "acme/kit/hand-over@v1", inputs: { name: "site" } },
      { name: "second", action: "acme/kit/hand-over@v1", inputs: { name: "other site" } },
    ],
    { args: ["--artifact-dir", artifactDir] },
  );
  assertEnded(ended, 0);
  const first = await ended.outputs("first");
  expect(first).toMatchObject({ names: '["site"]', content: "content of dist/deep/ü b.txt" });
  expect((await ended.outputs("second"))["names"]).toBe('["other site","site"]');
  const digest = createHash("sha256")
    .update(readFileSync(join(artifactDir, "site.zip")))
    .digest("hex");
  expect(first["digest"]).toBe(digest);
  expect(readFileSync(join(artifactDir, "other site.zip")).length).toBeGreaterThan(100);
  expect(ended.stderr).toMatch(/The artifact "other site" \(\d+ bytes\) is in .*other site\.zip/);
});

test.skipIf(!hasProgram("tar"))("a composite action that caches and uploads, in a workflow", async () => {
  const user = createKitUser(kit, { hasPlainPaths: true });
  const artifactDir = join(user.dir, "artifacts");
  const folder = join(user.workspace, ".github/workflows");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(user.workspace, "lock"), "one");
  writeFileSync(
    join(folder, "ci.yml"),
    `
on: push
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - {id: build, uses: acme/kit/build@v1}
      - {run: 'echo "hit $HIT, names $NAMES"', env: {HIT: "\${{ steps.build.outputs.hit }}", NAMES: "\${{ steps.build.outputs.names }}"}}
`,
  );
  const run = async (): Promise<string> => {
    const args = ["local", ".github/workflows/ci.yml", "--job-name", "build", "--artifact-dir", artifactDir];
    const ended = await user.run(args);
    assertEnded(ended, 0);
    return ended.stdout;
  };
  const key = `Linux-${createHash("sha256").update(createHash("sha256").update("one").digest()).digest("hex")}`;
  expect(await run()).toContain(`hit false, names ["of ${key}"]\n`);
  expect(await run()).toContain("hit true, names \n");
  expect(readFileSync(join(artifactDir, `of ${key}.zip`)).length).toBeGreaterThan(100);
});
