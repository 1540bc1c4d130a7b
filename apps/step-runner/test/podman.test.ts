import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { hasProgram, tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { busyboxRoot, findBusybox } from "./busybox-root.ts";
import { createWorld } from "./harness.ts";

const TEST_MS = 120_000;
const busybox = findBusybox();
const isPossible = hasProgram("podman") && hasProgram("runc") && busybox !== undefined && process.getuid?.() === 0;

// Podman's defaults want control groups and limits that a container, as CI may be one, does not have.
const SETTINGS = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
[network]
network_backend = "netavark"
`;

/** The environment of a machine where `docker` is Podman under another name, as Debian's podman-docker makes it. */
function podmanEnvironment(): Record<string, string> {
  const dir = tempDir();
  mkdirSync(join(dir, "bin"));
  const path = spawnSync("sh", ["-c", "command -v podman"], { encoding: "utf8" }).stdout.trim();
  symlinkSync(realpathSync(path), join(dir, "bin/docker"));
  writeFileSync(join(dir, "containers.conf"), SETTINGS);
  const PATH = [join(dir, "bin"), process.env["PATH"] ?? "", "/usr/sbin", "/sbin"].join(delimiter);
  return { PATH, CONTAINERS_CONF: join(dir, "containers.conf") };
}

function podman(env: Readonly<Record<string, string>>, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("podman", [...args], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

describe.skipIf(!isPossible)("a job in a container of Podman", { timeout: TEST_MS }, () => {
  test("runs beside its service, hands back its files, and leaves nothing", async () => {
    const env = podmanEnvironment();
    const image = `localhost/steps-podman-${process.pid}:1`;
    const root = busyboxRoot(busybox as string, ["cat", "echo", "id", "ls", "nc", "sleep"]);
    spawnSync("sh", ["-c", 'tar -C "$0" -c . | podman import - "$1"', root, image], {
      env: { ...process.env, ...env },
    });
    onTestFinished(() => void podman(env, ["image", "rm", "--force", image]));
    const before = podman(env, ["network", "ls", "--quiet"]);
    const world = createWorld();
    const answer = "while :; do echo hello from $WHO | nc -l -p 7000; done";
    const job = {
      image,
      services: [{ name: image, alias: "db", command: ["/bin/sh", "-c", answer], variables: { WHO: "the service" } }],
      script: [
        "for i in $(busybox seq 300); do nc db 7000 2>/dev/null && break; sleep 0.1; done",
        "echo made >out.txt",
      ],
    };
    writeFileSync(join(world.work, ".gitlab-ci.yml"), JSON.stringify({ test: job }));
    const { code, stdout, stderr } = await world.run(["local", "--in-place"], { env });
    expect({ code, stdout, stderr }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^hello from the service$/m),
    });
    expect(readFileSync(join(world.work, "out.txt"), "utf8")).toBe("made\n");
    expect(podman(env, ["ps", "--all", "--quiet", "--filter", `ancestor=${image}`])).toBe("");
    expect(podman(env, ["network", "ls", "--quiet"])).toBe(before);
  });
});
