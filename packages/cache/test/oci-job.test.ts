import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { buildImage, gzip, hasRegistry, push, skopeo, startRegistry } from "@steps/testkit/image-registry";

const COMMAND =
  process.env["STEP_RUNNER_TEST_COMMAND"] ?? resolve(import.meta.dirname, "../../../node_modules/.bin/step-runner");
const user = { username: "me", password: "s3cret-password" };

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface World {
  readonly dir: string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  ci(steps: string, env?: Readonly<Record<string, string>>, args?: readonly string[]): Promise<Ended>;
}

interface TraceResource {
  readonly kind: string;
  readonly uri: string;
  readonly requestedVersion: string;
  readonly resolvedVersion: string;
  readonly mutableRef?: boolean;
  readonly digest: Readonly<Record<string, string>>;
}

/** The built command, in a folder and with a home of its own. */
function createWorld(): World {
  const dir = tempDir();
  const home = tempDir();
  const run: World["run"] = async (args, env = {}) =>
    await new Promise((done) => {
      const all = { PATH: process.env["PATH"], HOME: home, ...env };
      execFile(COMMAND, args, { cwd: dir, env: all }, (error, stdout, stderr) => {
        done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  return { dir, run, ci: (steps, env = {}, args = []) => run(["ci", ...args], { STEPS: steps, ...env }) };
}

function layFunction(dir: string): void {
  mkdirSync(join(dir, "fn/bin"), { recursive: true });
  const spec = "spec: {inputs: {who: {type: string}}, outputs: {greeting: {type: string}}}";
  const command = '["${{ func_dir }}/bin/greet", "${{ inputs.who }}", "${{ output_file }}"]';
  writeFileSync(join(dir, "fn/func.yml"), `${spec}\n---\nexec: {command: ${command}}\n`);
  writeFileSync(join(dir, "fn/bin/greet"), '#!/bin/sh\necho "hello $1"\necho "greeting=hi $1" >> "$2"\n');
  chmodSync(join(dir, "fn/bin/greet"), 0o755);
}

function resources(dir: string, trace: string): TraceResource[] {
  const { resources: found } = JSON.parse(readFileSync(join(dir, trace), "utf8")) as { resources: TraceResource[] };
  return found.filter(({ kind }) => kind === "oci");
}

/** All texts of all files below a folder. */
function textsIn(dir: string): string {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

test.skipIf(!hasRegistry)("a function is built, published with credentials, fetched, run, and replayed offline", async () => {
  const world = createWorld();
  layFunction(world.dir);
  const registry = await startRegistry({ basic: user });
  const repository = `${registry.host}/group/greet`;
  const steps = [
    `- {name: build, step: "builtin://function/oci/build", inputs: {version: 1.2.3, common: {files: {"/": fn}}, labels: {a: b}}}`,
    `- {name: login, step: "builtin://docker/auth", inputs: {registry: "${registry.host}", username: me, password: "\${{ vars.CI_SECRET }}"}}`,
    `- {name: publish, step: "dist://function/oci/publish", inputs: {archive: "\${{ steps.build.outputs.archive }}", to_repository: "${repository}"}}`,
    `- {name: use, func: "${repository}:1", inputs: {who: "\${{ steps.publish.outputs.tags[1] }}"}}`,
    `- {name: shown, script: 'echo "config: $DOCKER_AUTH_CONFIG"'}`,
  ].join("\n");
  const args = ["--output-file", "trace.json", "--mask-variable", "CI_SECRET"];
  const made = await world.ci(steps, { CI_SECRET: user.password }, args);
  expect(made).toMatchObject({ code: 0 });
  expect(made.stdout).toContain("hello 1.2\n");
  expect(made.stdout).toContain("config: [MASKED]\n");
  const auth = Buffer.from(`${user.username}:${user.password}`).toString("base64");
  for (const secret of [user.password, auth]) {
    expect(made.stdout + made.stderr + textsIn(world.dir)).not.toContain(secret);
  }
  const digest = (await skopeo(["inspect", "--tls-verify=false", "--override-os=generic", "--override-arch=generic", `--creds=${user.username}:${user.password}`, "--format={{.Digest}}", `docker://${repository}:latest`])).trim();
  expect(resources(world.dir, "trace.json")).toMatchObject([
    { uri: `oci://${repository}`, requestedVersion: "1", resolvedVersion: digest, mutableRef: true },
  ]);
  // The credentials of an invocation are good for its own fetch.
  const config = JSON.stringify({ auths: { [registry.host]: user } });
  const use = `[{name: use, step: "${repository}:1.2", inputs: {who: you}, env: {DOCKER_AUTH_CONFIG: '${config}'}}]`;
  expect(await world.ci(use, {}, ["--output-file", "use.json", "--cache-dir", "second"])).toMatchObject({ code: 0 });
  await registry[Symbol.asyncDispose]();
  const replayed = await world.run(["replay", "use.json", "--offline", "--cache-dir", "second", "--secret", `DOCKER_AUTH_CONFIG=${config}`]);
  expect(replayed).toMatchObject({ code: 0 });
  expect(replayed.stdout).toContain("hello you\n");
  expect(await world.run(["replay", "use.json", "--offline", "--cache-dir", "third", "--secret", `DOCKER_AUTH_CONFIG=${config}`])).toMatchObject({ code: 12 });
  const offline = await world.ci(`[{step: "${repository}:1.2", inputs: {who: me}}]`, {}, ["--offline", "--cache-dir", "second"]);
  expect(offline).toMatchObject({ code: 0, stdout: "hello me\n" });
  const listed = await world.run(["cache", "ls", "--cache-dir", "second"]);
  expect(listed.stdout).toContain(`oci://${repository}@1.2`);
  expect((await world.run(["cache", "verify", "--cache-dir", "second"])).code).toBe(0);
}); // prettier-ignore

test.skipIf(!hasRegistry)("a file of an image can be named, and a mirror stands in for a registry", async () => {
  await using registry = await startRegistry();
  const world = createWorld();
  const file = (text: string): string => `{}\n---\nexec: {command: [echo, ${text}]}\n`;
  const image = buildImage({ layers: [{ data: gzip([{ path: "step.yml", content: file("root") }, { path: "a/x.yml", content: file("inner") }, { path: "a/step.yml", content: `{}\n---\nrun: [{step: ./x.yml}]\n` }]) }] });
  await push(`http://${registry.host}`, { repository: "mirror/g/p", tag: "v1", images: [image] });
  const mirror = ["--mirror", `oci://registry.gitlab.com/=http://${registry.host}/mirror/`, "--output-file", "trace.json"];

  const expanded = { oci: { registry: "registry.gitlab.com", repository: "g/p", tag: "v1", dir: "a", file: "x.yml" } };
  const written = ["g/p:v1", "g/p:v1 a/x.yml", "g/p:v1 a", "oci://registry.gitlab.com/g/p:v1/-/a", expanded];
  const list = written.map((step) => ({ step }));
  const ended = await world.ci(JSON.stringify(list), {}, mirror);
  expect(ended.stderr).not.toContain("step-runner:");
  expect(ended).toMatchObject({ code: 0, stdout: "root\ninner\ninner\ninner\ninner\n" });
  expect(resources(world.dir, "trace.json")).toMatchObject([
    { uri: "oci://registry.gitlab.com/g/p", requestedVersion: "v1", resolvedVersion: image.digest, digest: { sha256: image.digest.slice(7) } },
  ]);
  expect(registry.log.filter((line) => /GET \/v2\/.*manifests/.test(line))).toHaveLength(1);
  const missing = await world.ci('[{step: "g/p:v1 none"}]', {}, mirror);
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.stderr).toContain("Cannot find a step");
}); // prettier-ignore

test.skipIf(!hasRegistry)(
  "step/oci/build builds and publishes at once, and takes files the other way round",
  async () => {
    await using registry = await startRegistry();
    const world = createWorld();
    layFunction(world.dir);
    const build = (name: string, files: string): string =>
      `{name: made, step: "builtin://${name}", inputs: {registry: "${registry.host}", repository: g/p, tag: "1.0", platforms: {linux/amd64: {files: ${files}}, linux/arm64: {files: ${files}}}}}`;
    const script =
      '{name: shown, script: "echo ${{ steps.made.outputs.ref }} ${{ steps.made.outputs.digest.algorithm }}"}';
    const made = await world.ci(`[${build("step/oci/build", "{fn/func.yml: func.yml, fn/bin: bin}")}, ${script}]`);
    expect(made).toMatchObject({ code: 0 });
    expect(made.stdout).toContain(`${registry.host}/g/p:1.0 sha256\n`);
    const used = await world.ci(`[{step: "${registry.host}/g/p:1.0", inputs: {who: you}}]`);
    expect(used).toMatchObject({ code: 0, stdout: "hello you\n" });
    writeFileSync(join(world.dir, "fn/func.yml"), "changed");
    const again = await world.ci(`[${build("step/oci/build", "{fn/func.yml: func.yml}")}]`);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("it is there already, with other content");
    const swapped = await world.ci(`[${build("step/oci/build", "{func.yml: fn/func.yml}")}]`);
    expect(swapped.stderr).toContain("The direction of files may be swapped");
  },
);

test("a built-in step that there is not is named, and its inputs are checked before it starts", async () => {
  const world = createWorld();
  const none = await world.ci('[{name: x, step: "dist://step/none"}]');
  expect(none.stderr).toContain('distributed step "step/none" not found');
  const inputs = await world.ci('[{step: "builtin://docker/auth", inputs: {registry: h, username: u}}]');
  expect(inputs.code).not.toBe(0);
  expect(inputs.stderr).toContain("password");
  writeFileSync(join(world.dir, "a"), "a");
  const swapped = await world.ci(
    '[{step: "builtin://function/oci/build", inputs: {version: 1.0.0, common: {files: {a: x}}}}]',
  );
  expect(swapped.stderr).toContain(
    "The direction of files may be swapped: function/oci/build takes destination: source",
  );
  expect(existsSync(join(world.dir, "function-image.tar"))).toBe(false);
});
