import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { checkContainerCli, findContainerCli, findContainerSocket } from "./find-container-cli.ts";
import { removeContainer, removeLabelled } from "./remove-container.ts";

let root = "";

beforeEach(() => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "container-cli-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  root = dir;
});

function program(path: string, script: string): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe("findContainerCli", () => {
  test("prefers docker wherever it is on the PATH", () => {
    const podman = program("a/podman", "");
    const docker = program("b/docker", "");
    expect(findContainerCli(`${root}/a:${root}/b`)).toEqual({ program: docker, kind: "docker" });
    expect(findContainerCli(`${root}/a`)).toEqual({ program: podman, kind: "podman" });
  });

  test("knows a docker that is podman", () => {
    const script = program("a/docker", 'exec /usr/bin/podman "$@"');
    expect(findContainerCli(`${root}/a`)).toEqual({ program: script, kind: "podman" });
    const podman = program("d/podman", "");
    expect(findContainerCli(`${root}/a:${root}/d`)).toEqual({ program: podman, kind: "podman" });
    program("c/podman-4.9", "");
    mkdirSync(join(root, "b"));
    symlinkSync("../c/podman-4.9", join(root, "b/docker"));
    expect(findContainerCli(`${root}/b`)).toEqual({ program: join(root, "b/docker"), kind: "podman" });
  });

  test("finds nothing where nothing is, and not what cannot be run or is named relatively", () => {
    expect(findContainerCli(undefined)).toBeUndefined();
    writeFileSync(join(root, "docker"), "");
    mkdirSync(join(root, "x/docker"), { recursive: true });
    expect(findContainerCli(`${root}:${root}/x:.:`)).toBeUndefined();
  });
});

describe("findContainerSocket", () => {
  const docker = { program: "/x/docker", kind: "docker" } as const;
  const podman = { program: "/x/podman", kind: "podman" } as const;

  async function listen(path: string): Promise<string> {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(file, resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    return file;
  }

  test("is the one that the client uses, if it is one of this machine", async () => {
    const file = await listen("d.sock");
    expect(findContainerSocket(docker, { DOCKER_HOST: `unix://${file}` })).toBe(file);
    expect(findContainerSocket(podman, { CONTAINER_HOST: `unix://${file}` })).toBe(file);
    expect(findContainerSocket(docker, { DOCKER_HOST: "tcp://127.0.0.1:2375" })).toBeUndefined();
    expect(findContainerSocket(docker, { DOCKER_HOST: `unix://${root}` })).toBeUndefined();
  });

  test("of Podman is the user's", async () => {
    const file = await listen("podman/podman.sock");
    expect(findContainerSocket(podman, { XDG_RUNTIME_DIR: root })).toBe(file);
  });
});

describe("checkContainerCli", () => {
  const check = (file: string, kind: "docker" | "podman" = "docker", timeoutMs = 5000) =>
    checkContainerCli({ program: file, kind }, { env: { PATH: "/usr/bin:/bin" }, timeoutMs });

  test("says what version answers", async () => {
    expect(await check(program("docker", "echo 27.3.1"))).toEqual({ isUsable: true, version: "27.3.1" });
    const podman = program("podman", '[ "$1" = info ] && echo 4.9.3');
    expect(await check(podman, "podman")).toEqual({ isUsable: true, version: "4.9.3" });
  });

  test("says what is in the way", async () => {
    const down = await check(program("docker", "echo; echo 'Cannot connect to the Docker daemon' >&2; exit 1"));
    expect(down).toMatchObject({
      isUsable: false,
      message: expect.stringContaining("Cannot connect to the Docker daemon"),
    });
    expect(await check(program("docker2", "echo '<no value>'"))).toMatchObject({ isUsable: false });
    expect(await check(join(root, "missing"))).toMatchObject({
      isUsable: false,
      message: expect.stringContaining("ENOENT"),
    });
  });

  test("does not wait for a daemon that does not answer", async () => {
    const hung = await check(program("docker", "sleep 1000"), "docker", 200);
    expect(hung).toMatchObject({ isUsable: false, message: expect.stringContaining("no answer within 200 ms") });
  });

  test("ends with the job", async () => {
    const stop = new AbortController();
    const asked = checkContainerCli(
      { program: program("docker", "sleep 1000"), kind: "docker" },
      { env: { PATH: "/usr/bin:/bin" }, signal: stop.signal },
    );
    stop.abort();
    expect(await asked).toMatchObject({ isUsable: false });
  });
});

describe("removing", () => {
  const env = { PATH: "/usr/bin:/bin" };

  test("takes a container that is not there for removed, and nothing else", async () => {
    const cli = (script: string) => ({ program: program("docker", script), kind: "docker" }) as const;
    expect(await removeContainer(cli("exit 0"), { name: "a", env })).toBe(true);
    const gone = cli("echo 'Error response from daemon: No such container: a' >&2; exit 1");
    expect(await removeContainer(gone, { name: "a", env })).toBe(true);
    const racing = cli("echo 'removal of container a is already in progress' >&2; exit 1");
    expect(await removeContainer(racing, { name: "a", env })).toBe(true);
    expect(await removeContainer(cli("echo 'Cannot connect' >&2; exit 1"), { name: "a", env })).toBe(false);
  });

  test("by a label removes each container that has it", async () => {
    const log = join(root, "log");
    const script = `if [ "$1" = ps ]; then printf '%s\\n' "$*" > '${log}'; echo 0123456789ab; echo -x; echo ba9876543210; else echo "$*" >> '${log}'; fi`;
    expect(await removeLabelled({ program: program("docker", script), kind: "docker" }, { label: "l=1", env })).toBe(
      true,
    );
    expect(readFileSync(log, "utf8").trim().split("\n").toSorted()).toEqual([
      "ps --all --quiet --filter=label=l=1",
      "rm --force --volumes 0123456789ab",
      "rm --force --volumes ba9876543210",
    ]);
  });
});
