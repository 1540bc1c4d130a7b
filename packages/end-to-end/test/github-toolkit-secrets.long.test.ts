import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assertEnded, createKitUser, type Kit, startKit, stepOf } from "./github-toolkit-harness.ts";

const SALT = "salt-of-a-test";
const SECRET = `hush/"quoted" & <tag>/${SALT}`;
const FORMS: Readonly<Record<string, string>> = {
  plain: SECRET,
  base64: Buffer.from(SECRET).toString("base64"),
  json: JSON.stringify(SECRET).slice(1, -1),
  uri: encodeURIComponent(SECRET),
  line: "second line of two",
};

let kit: Kit;

beforeAll(async () => {
  kit = await startKit(
    {
      secret: "inputs: {salt: {}}\nruns: {using: node24, main: dist/secret.js}",
      "hand-over": "inputs: {name: {}}\nruns: {using: node24, main: ../dist/hand-over.js}",
      keep: "inputs: {path: {}, key: {}, restore-keys: {}}\nruns: {using: node24, main: ../dist/keep.js, post: ../dist/keep.js}",
    },
    { cjs: { secret: ["secret"] }, esm: ["keep", "hand-over"] },
  );
});

afterAll(() => kit.close());

test("what setSecret names is nowhere, in none of its forms, and the job can be replayed", async () => {
  const user = createKitUser(kit, { hasPlainPaths: true });
  const summaryFile = join(user.dir, "summary.md");
  const steps = [
    { name: "secret", action: "acme/kit/secret@v1", inputs: { salt: SALT } },
    {
      name: "later",
      env: { ENCODED: "${{ steps.secret.outputs.encoded }}", GIVEN: "${{ steps.secret.outputs.secret }}" },
      script: 'echo "later [$ENCODED] [$GIVEN]"; printf %s "$SECRET_MADE" | base64 -w0; echo; echo "$SECRET_MADE" >&2',
    },
    { name: "hand_over", action: "acme/kit/hand-over@v1", inputs: { name: "site" } },
    { name: "keep", action: "acme/kit/keep@v1", inputs: { path: "deps", key: "deps-1" } },
  ];
  // The contents of the cache are not part of the trace; the secrets are in the cache from here on.
  assertEnded(await user.ci(steps.slice(-1)), 0);
  const ended = await user.ci(steps, { args: ["--summary-file", summaryFile] });
  assertEnded(ended, 0);
  for (const form of Object.values(FORMS)) {
    expect(ended.stdout).not.toContain(form);
    expect(ended.stderr).not.toContain(form);
    const files = [
      ...readAll(join(user.dir, "state")),
      { path: "summary", content: readFileSync(summaryFile, "utf8") },
    ];
    expect(files.filter(({ content }) => content.includes(form)).map(({ path }) => path)).toEqual([]);
    expect(ended.text).not.toContain(form);
  }
  const annotations = (await stepOf(ended.trace(), "secret")).obs?.annotations;
  expect(annotations?.[0]?.message).toBe("warned of [MASKED]");

  expect(ended.stdout).toContain("later [[MASKED]] [[MASKED]]\n[MASKED]\n");
  // In a zip archive are the times of its files.
  const args = ["replay", join(user.dir, "trace-1.json"), "--ignore", "outputs.digest"];
  const replayed = await user.run(args);
  assertEnded(replayed, 0);
  expect(replayed.stdout).toContain("Cache restored successfully");
  expect(replayed.stdout).toContain("The same");
  expect(replayed.stdout).toContain("later [[MASKED]] [[MASKED]]\n[MASKED]\n");
});

/** All files below a folder, with their content as bytes in latin1. */
function readAll(dir: string): { readonly path: string; readonly content: string }[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, content: readFileSync(path, "latin1") }));
}
