import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { hasProgram, tempDir } from "@steps/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ARGV_VARIABLE } from "../src/bootstrap/start.ts";
import { VERSION } from "../src/version.ts";
import { busyboxRoot, findBusybox } from "./busybox-root.ts";
import { createContainers, hasDocker } from "./containers.ts";
import { COMMAND } from "./harness.ts";

const BRIDGE = resolve(import.meta.dirname, "../../../node_modules/.bin/runner-bridge");
/** The folder in which GitLab's runner mounts its volume, and the program that it calls there. */
const DIR = "/opt/gitlab-runner";
const HELPER = `${DIR}/gitlab-runner-helper`;
const MUSL = "/lib/ld-musl-x86_64.so.1";
const TEST_MS = 120_000;

const containers = createContainers();
const volume = containers.volume("runtime");
const images = { busybox: "", musl: "", empty: "", helper: "" };

const busybox = findBusybox();
const isPossible = hasProgram("docker") && busybox !== undefined && hasDocker();

/** An image like GitLab's helper: the program, certificates and a git. */
function helperRoot(): string {
  const root = tempDir();
  const ended = spawnSync(COMMAND, ["steps", "bootstrap", join(root, "usr/bin/gitlab-runner-helper")]);
  expect(ended.status).toBe(0);
  writeFileSync(join(root, "ca-certs.pem"), "# certificates\n", { mode: 0o600 });
  mkdirSync(join(root, "git/bin"), { recursive: true });
  writeFileSync(join(root, "git/bin/git"), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync("git", join(root, "git/bin/git-upload-pack"));
  return root;
}

beforeAll(() => {
  if (!isPossible) return;
  const empty = tempDir();
  images.empty = containers.importImage("empty", empty);
  images.busybox = containers.importImage(
    "busybox",
    busyboxRoot(busybox as string, ["cat", "cp", "env", "id", "ls", "mkdir", "mv", "stat", "find"]),
  );
  images.helper = containers.importImage("helper", helperRoot());
  if (existsSync(MUSL)) {
    const root = busyboxRoot(busybox as string, ["cat", "cp", "env", "id", "ls", "mkdir", "mv", "stat", "find"]);
    mkdirSync(join(root, "lib"));
    copyFileSync(realpathSync(MUSL), join(root, MUSL));
    chmodSync(join(root, MUSL), 0o755);
    images.musl = containers.importImage("musl", root);
  }
}, TEST_MS);

afterAll(() => containers.remove(), TEST_MS);

/** Runs something in a build container: the volume is all that it has of ours. */
const build = (image: string, args: readonly string[], options: readonly string[] = []) =>
  containers.run("-v", `${volume}:${DIR}:ro`, "--network", "none", ...options, image, ...args);

const stepsOf = (script: string): string => `STEPS=${JSON.stringify([{ name: "a", script }])}`;

describe.skipIf(!isPossible)("a program for any container", { timeout: TEST_MS, concurrent: false }, () => {
  beforeAll(async () => {
    // As GitLab's runner does it: no network, nothing that can be written to but the volume.
    const ended = await containers.run(
      "--network", "none", "--read-only", "-v", `${volume}:${DIR}`, images.helper, "gitlab-runner-helper", "steps", "bootstrap", HELPER,
    ); // oxfmt-ignore
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain(`${HELPER} runs in any Linux container`);
  }, TEST_MS);

  test("comes with what the helper image had, readable by everybody", async () => {
    const script = `cd ${DIR}; stat -c '%a %F' gitlab-runner-helper ca-certs.pem . .gitlab*/ld.so git/bin/git git/bin/git-upload-pack`;
    const { stdout } = await build(images.busybox, ["sh", "-c", script]);
    expect(stdout.trim().split("\n")).toEqual([
      "755 regular file", "644 regular file", "755 directory", "755 regular file", "755 regular file", "777 symbolic link",
    ]); // oxfmt-ignore
  });

  test.each(["busybox", "musl", "empty"] as const)("starts in an image with %s", async (name) => {
    if (images[name] === "") return;
    const ended = await build(images[name], [HELPER, "--version"]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain(`\nVersion:      ${VERSION}\n`);
  });

  test("runs steps where there is no C library, as root and as a user without a home", async () => {
    const steps = stepsOf("echo user $(id -u); exit 4");
    for (const options of [[], ["--user", "1000"], ["--user", "1000:1000", "--read-only", "--tmpfs", "/tmp"]]) {
      const ended = await build(images.busybox, [HELPER, "ci", "--quiet"], ["-e", steps, ...options]);
      expect(ended).toMatchObject({ code: 4, stdout: `user ${options.length > 0 ? 1000 : 0}\n` });
    }
    const unset = await build(
      images.busybox,
      ["env", "-u", "HOME", HELPER, "ci", "--quiet"],
      ["-e", steps, "-u", "77"],
    );
    expect(unset).toMatchObject({ code: 4, stdout: "user 77\n" });
  });

  test("says what it lacks where nothing can be written", async () => {
    const ended = await build(images.busybox, [HELPER, "ci"], ["-e", stepsOf("true"), "--read-only"]);
    expect(ended).toMatchObject({ code: expect.any(Number), stdout: "" });
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain("/.local/state/step-runner");
    expect(ended.stderr).not.toContain("Internal error");
  });

  test.skipIf(!existsSync(MUSL))("runs steps where another C library is forced upon every program", async () => {
    const hostile = ["-e", `LD_PRELOAD=${MUSL}`, "-e", "LD_LIBRARY_PATH=/lib", "-e", "NODE_OPTIONS=--none"];
    const ended = await build(images.musl, [HELPER, "ci", "--quiet"], ["-e", stepsOf("echo from musl"), ...hostile]);
    expect(ended).toMatchObject({ code: 0, stdout: "from musl\n", stderr: "" });
  });

  test("runs from another path, from a volume that cannot be written to, and leaves nothing in it", async () => {
    const script = [
      `before=$(find ${DIR})`,
      `${HELPER} --version >/dev/null`,
      `test "$before" = "$(find ${DIR})"`,
      `mkdir /moved && cp -a ${DIR}/. "/moved/to here" && "/moved/to here/gitlab-runner-helper" --version`,
      `mv "/moved/to here" /again && /again/gitlab-runner-helper --version`,
    ].join(" && ");
    const ended = await build(images.busybox, ["sh", "-c", script]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout.match(/^Version:/gm)).toHaveLength(2);
  });

  test("goes on from one container to the next", async () => {
    const script = `${HELPER} steps bootstrap /tmp/one/x && /tmp/one/x bootstrap /tmp/two && /tmp/two/step-runner --version`;
    const { code, stdout } = await build(images.busybox, ["sh", "-c", script]);
    expect([code, stdout.split("\n").at(-2)]).toEqual([0, `step-runner ${VERSION}`]);
  });

  test("serves a job, with the arguments that an entry point dropped", async () => {
    const name = containers.container("serve");
    const argv = Buffer.from(JSON.stringify(["steps", "serve"])).toString("base64");
    const started = await containers.docker([
      "run", "-d", "--name", name, "-v", `${volume}:${DIR}:ro`, "--network", "none", "-e", `${ARGV_VARIABLE}=${argv}`,
      "--entrypoint", "/bin/sh", images.busybox, "-c", HELPER, "steps", "serve",
    ]); // oxfmt-ignore
    expect(started.code).toBe(0);
    const socket = await readyLine(name);
    const proxy = `${HELPER} steps proxy --socket ${socket}`;
    const file = join(tempDir(), "steps.yml");
    writeFileSync(file, "- name: a\n  script: echo served by $(id -u); exit 3\n");
    const args = ["run", file, "--docker", name, "--proxy", proxy, "--verbose", "--reconnect-for", "30s"];
    const ended = spawnSync(BRIDGE, args, { encoding: "utf8" });
    expect(ended, ended.stderr).toMatchObject({ status: 3, stdout: "served by 0\n" });
  });

  test.skipIf(process.getuid?.() !== 0)("finds the addresses of names where nothing says how to", async () => {
    const web = createServer((_, response) => response.writeHead(418).end());
    web.listen(0, "127.0.0.1");
    await once(web, "listening");
    const names = createSocket("udp4");
    names.on("message", (question, from) => names.send(answer(question), from.port, from.address));
    names.bind(53, "127.0.0.253");
    await once(names, "listening");
    onTestFinished(() => {
      web.close();
      names.close();
    });
    const config = join(tempDir(), "resolv.conf");
    writeFileSync(config, "nameserver 127.0.0.253\n");
    chmodSync(join(config, ".."), 0o755);
    const url = `http://steps.test:${(web.address() as AddressInfo).port}/a.zip`;
    const ended = await containers.run(
      "--network", "host", "-v", `${config}:/etc/resolv.conf:ro`, "-v", `${volume}:${DIR}:ro`, images.busybox, HELPER, "validate", url,
    ); // oxfmt-ignore
    expect(ended.stderr).toContain("the server answered 418");
  });
});

/** Waits for the line that says where the service listens, as GitLab's runner does. */
async function readyLine(name: string): Promise<string> {
  for (;;) {
    const { stderr } = await containers.docker(["logs", name]);
    const socket = /^step-runner is listening on socket (.*)\n/m.exec(stderr)?.[1];
    if (socket !== undefined) return socket;
    const { stdout } = await containers.docker(["inspect", "-f", "{{.State.Running}}", name]);
    if (stdout.trim() !== "true") throw new Error(`ended: ${stderr}`);
  }
}

/** Answers every question for an IPv4 address with 127.0.0.1, and others with nothing. */
function answer(question: Buffer): Buffer {
  const end = question.indexOf(0, 12) + 5;
  const isV4 = question.readUInt16BE(end - 4) === 1;
  const head = Buffer.from(question.subarray(0, end));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(isV4 ? 1 : 0, 6);
  head.fill(0, 8, 12);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([head, ...(isV4 ? [record] : [])]);
}
