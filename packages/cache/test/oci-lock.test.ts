import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { buildImage, gzip, hasRegistry, push, startRegistry } from "@steps/testkit/image-registry";

const COMMAND =
  process.env["STEP_RUNNER_TEST_COMMAND"] ?? resolve(import.meta.dirname, "../../../node_modules/.bin/step-runner");

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Run = (args: readonly string[]) => Promise<Ended>;

/** The built command, in a folder and with a home of its own. */
function createWorld(): { readonly dir: string; readonly run: Run } {
  const dir = tempDir();
  const env = { PATH: process.env["PATH"], HOME: tempDir() };
  const run: Run = async (args) =>
    await new Promise((done) => {
      execFile(COMMAND, args, { cwd: dir, env }, (error, stdout, stderr) => {
        done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  return { dir, run };
}

const PLATFORMS = [
  { os: "linux", architecture: "amd64" },
  { os: "linux", architecture: "arm64" },
] as const;

function images(text: string): ReturnType<typeof buildImage>[] {
  return PLATFORMS.map((platform) => {
    const content = `{}\n---\nexec: {command: [echo, ${text} ${platform.architecture}]}\n`;
    return buildImage({ platform, layers: [{ data: gzip([{ path: "step.yml", content }]) }] });
  });
}

test.skipIf(!hasRegistry)("an image is locked for all its platforms, whoever moves its tag", async () => {
  await using registry = await startRegistry();
  const { dir, run } = createWorld();
  const base = `http://${registry.host}`;
  const image = { repository: "group/tool", isIndex: true } as const;
  const reference = `${registry.host}/group/tool:1`;
  const index = await push(base, { ...image, tag: "1", images: images("one") });
  expect(await run(["lock", reference])).toMatchObject({ code: 0 });
  const locked: unknown = JSON.parse(readFileSync(join(dir, "steps.lock"), "utf8"));
  expect(locked).toEqual({
    lockVersion: 1,
    components: [{ kind: "oci", location: `oci://${registry.host}/group/tool`, version: "1", resolved: index }],
  });

  await push(base, { ...image, tag: "1", images: images("two") });
  expect((await run(["run", reference])).stdout).toMatch(/^two /);
  expect(await run(["lock", reference, "--check"])).toMatchObject({ code: 1 });
  const ended = await run(["run", reference, "--locked", "--cache-dir", "fresh", "--output-file", "trace.json"]);
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/^one /);
  const trace = JSON.parse(readFileSync(join(dir, "trace.json"), "utf8")) as { resources: unknown[] };
  expect(trace.resources[0]).toMatchObject({
    kind: "oci",
    requestedVersion: "1",
    resolvedVersion: index,
    mutableRef: true,
  });

  const replayed = await run(["replay", "trace.json", "--yes", "--offline", "--cache-dir", "fresh"]);
  expect(replayed).toMatchObject({ code: 0 });
  const other = await run(["run", `${registry.host}/group/tool:2`, "--locked"]);
  expect(other.stderr).toContain('"steps.lock" does not name it');
});

test.skipIf(!hasRegistry)("an image that the registry no longer has is not replaced by another", async () => {
  await using registry = await startRegistry();
  const { dir, run } = createWorld();
  const reference = `${registry.host}/group/tool:1`;
  await push(`http://${registry.host}`, { repository: "group/tool", tag: "1", images: images("one"), isIndex: true });
  const component = { kind: "oci", location: `oci://${registry.host}/group/tool`, version: "1" };
  const gone = { ...component, resolved: `sha256:${"0".repeat(64)}` };
  writeFileSync(join(dir, "steps.lock"), JSON.stringify({ lockVersion: 1, components: [gone] }));
  const ended = await run(["run", reference, "--locked"]);
  expect(ended.code).not.toBe(0);
  expect(ended.stdout).toBe("");
});
