import { createHash } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  createCertificates,
  createGitRepository,
  hasProgram,
  startFileServer,
  startGitHttpServer,
} from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { createWorld, type Ended, readTrace, type World } from "./harness.ts";

function lay(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

const LOCAL = ["local", "--job-name", "test"];

function output({ stdout }: Ended): string[] {
  return stdout.split("\n").filter((line) => line !== "" && !line.startsWith("$ "));
}

describe("local", () => {
  test("asks git for the situation that rules of an include are decided in", async () => {
    const world = createWorld();
    await createGitRepository(world.work, {
      ".gitlab-ci.yml": [
        "include:",
        "  - {local: ci/main.yml, rules: [{if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH}]}",
        "  - {local: ci/docker.yml, rules: [{exists: [Dockerfile]}]}",
        "  - {local: ci/none.yml, rules: [{if: $CI_PIPELINE_SOURCE == 'schedule'}]}",
        'test: {script: ["echo $MAIN $DOCKER"]}',
      ].join("\n"),
      "ci/main.yml": "variables: {MAIN: main}\n",
      "ci/docker.yml": "variables: {DOCKER: docker}\n",
      Dockerfile: "FROM scratch\n",
    });
    expect(output(await world.run(LOCAL))).toEqual(["main docker"]);
    const scheduled = await world.run([...LOCAL, "--source", "schedule"]);
    expect(scheduled.stderr).toContain(`.gitlab-ci.yml:4:13: error: Cannot include "ci/none.yml"`);
    expect(scheduled.code).toBe(2);
  });

  test("takes projects and components from folders", async () => {
    const world = createWorld();
    lay(world.dir, {
      "shared/all.yml": "include: parts/a.yml\n",
      "shared/parts/a.yml": "variables: {A: a}\n",
      "shared/templates/hello.yml":
        "spec: {inputs: {who: }, component: [name]}\n---\n.hello: {script: ['echo $[[ component.name ]] $[[ inputs.who ]] $A']}\n",
      "work/.gitlab-ci.yml": [
        "include:",
        "  - {project: group/shared, file: all.yml}",
        "  - {component: $CI_SERVER_FQDN/group/shared/hello@1.0.0, inputs: {who: you}}",
        "test: {extends: .hello}",
      ].join("\n"),
    });
    const flags = ["--include-map", "group/shared=../shared", "--project-url", "https://gitlab.example/group/own"];
    const ended = await world.run([...LOCAL, ...flags]);
    expect(output(ended)).toEqual(["hello you a"]);
    const listed = await world.run(["validate", ".gitlab-ci.yml", ...flags]);
    expect(listed, listed.stderr).toMatchObject({ code: 0 });
  });

  test("holds included files to the lock, also when they have changed since, and runs offline", async () => {
    const world = createWorld();
    const repository = await createGitRepository(join(world.dir, "served/group/ci"), {
      "a.yml": 'test: {script: ["echo one $REMOTE"]}\n',
    });
    await using git = await startGitHttpServer(join(world.dir, "served"));
    await using files = await startFileServer({ "/r.yml": "variables: {REMOTE: first}\n" });
    lay(world.work, {
      ".gitlab-ci.yml": `include:\n  - {project: group/ci, file: a.yml}\n  - ${files.url}/r.yml\n`,
    });
    const flags = ["--project-url", `${git.url}/group/own`, "--include-http"];
    const locked = await world.run(["lock", ...flags]);
    expect(locked, locked.stderr).toMatchObject({ code: 0 });
    const lock = readFileSync(join(world.work, "steps.lock"), "utf8");
    expect(JSON.parse(lock)).toMatchObject({
      components: [
        { kind: "file", location: `${files.url}/r.yml`, resolved: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
        { kind: "git", location: `${git.url}/group/ci`, version: "HEAD", resolved: await repository.revision() },
      ],
    });
    await repository.commit({ "a.yml": 'test: {script: ["echo two $REMOTE"]}\n' });
    expect(output(await world.run([...LOCAL, ...flags]))).toEqual(["two first"]);
    expect(output(await world.run([...LOCAL, ...flags, "--locked"]))).toEqual(["one first"]);
    files.set("/r.yml", "variables: {REMOTE: second}\n");
    expect(output(await world.run([...LOCAL, ...flags]))).toEqual(["two second"]);
    expect(output(await world.run([...LOCAL, ...flags, "--locked"]))).toEqual(["one first"]);
    expect((await world.run(["lock", "--check", ...flags])).code).toBe(1);
    await Promise.all([git.close(), files.close()]);
    expect(output(await world.run([...LOCAL, ...flags, "--locked", "--offline"]))).toEqual(["one first"]);
    expect(output(await world.run([...LOCAL, ...flags, "--offline"]))).toEqual(["two second"]);
    lay(world.work, { ".gitlab-ci.yml": `include: ${files.url}/other.yml\ntest: {script: [echo]}\n` });
    const offline = await world.run([...LOCAL, ...flags, "--offline"]);
    expect(offline.stderr).toContain(`Cannot include "${files.url}/other.yml": It is not in the cache`);
    expect((await world.run([...LOCAL, ...flags, "--locked"])).stderr).toContain(`"steps.lock" does not name it`);
  });

  test("tells in the trace each file that was included, with its commit or digest", async () => {
    const world = createWorld();
    const repository = await createGitRepository(join(world.dir, "served/group/ci"), { "a.yml": "include: b.yml\n" });
    const commit = await repository.commit({ "b.yml": "test: {script: [echo]}\n" });
    await using git = await startGitHttpServer(join(world.dir, "served"));
    await using files = await startFileServer({ "/r.yml": "variables: {A: a}\n" });
    const include = `{project: group/ci, file: a.yml}, {remote: "${files.url}/r.yml"}, own.yml`;
    lay(world.work, { ".gitlab-ci.yml": `include: [${include}]\n`, "own.yml": "variables: {B: b}\n" });
    const flags = ["--project-url", `${git.url}/group/own`, "--include-http", "--output-file", "trace.json"];
    const ended = await world.run([...LOCAL, ...flags]);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    const { request } = await readTrace(join(world.work, "trace.json"));
    const short = `group/ci@${commit.slice(0, 12)}`;
    const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
    expect(request?.includedFiles).toEqual([
      { name: `${short}:a.yml`, digest: { gitCommit: commit } },
      { name: `${short}:b.yml`, digest: { gitCommit: commit } },
      { name: `${files.url}/r.yml`, digest: { sha256: sha256("variables: {A: a}\n") } },
      { name: "own.yml", digest: { sha256: sha256("variables: {B: b}\n") } },
    ]);
    const replayed = await world.run(["replay", "trace.json", "--output-file", "again.json"]);
    expect(replayed, replayed.stderr).toMatchObject({ code: 0 });
    expect((await readTrace(join(world.work, "again.json"))).request?.includedFiles).toEqual(request?.includedFiles);
  });

  test("two processes at once share what they fetch", async () => {
    const world = createWorld();
    await using files = await startFileServer({ "/r.yml": 'test: {script: ["echo both"]}\n' }, { delayMs: 20 });
    lay(world.work, { ".gitlab-ci.yml": `include: ${files.url}/r.yml\n` });
    const ended = await Promise.all([1, 2, 3].map(() => world.run([...LOCAL, "--include-http"])));
    expect(ended.map(output)).toEqual([["both"], ["both"], ["both"]]);
  });
});

describe.skipIf(!hasProgram("openssl"))("a server with a certificate", () => {
  test("is trusted when its authority is, and not otherwise", async () => {
    const { ca, server: own } = await createCertificates();
    const server = createServer(own, (_, response) => response.end('test: {script: ["echo safe"]}\n'));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const world = createWorld();
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/a.yml`;
      lay(world.work, { ".gitlab-ci.yml": `include: ${url}\n` });
      lay(world.dir, { "ca.pem": ca.cert });
      const refused = await runIn(world, {});
      expect(refused.stderr).toContain("has a certificate that is not trusted");
      expect(refused.code).toBe(2);
      expect(output(await runIn(world, { NODE_EXTRA_CA_CERTS: join(world.dir, "ca.pem") }))).toEqual(["safe"]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

function runIn(world: World, env: Readonly<Record<string, string>>): Promise<Ended> {
  return world.run(LOCAL, { env });
}
