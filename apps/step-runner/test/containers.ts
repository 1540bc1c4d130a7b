import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { type Ended } from "./harness.ts";

/** Whether there is a Docker engine that answers. */
export function hasDocker(): boolean {
  return spawnSync("docker", ["version"], { stdio: "ignore" }).status === 0;
}

/** Images, volumes and containers of a test file; all have one name before theirs and are removed by `remove()`. */
export interface Containers {
  /** Makes an image of a folder. @param changes instructions of a Dockerfile: `ENV A=b` */
  importImage(name: string, dir: string, changes?: readonly string[]): string;
  volume(name: string): string;
  /** A name for a container. */
  container(name: string): string;
  /** `docker run --rm`, to its end. */
  run(...args: readonly string[]): Promise<Ended>;
  docker(args: readonly string[], input?: string): Promise<Ended>;
  remove(): void;
}

export function createContainers(): Containers {
  const prefix = `steps-bootstrap-${process.pid}-${randomBytes(4).toString("hex")}`;
  // In the order in which they let go of each other.
  const made = { container: new Set<string>(), image: new Set<string>(), volume: new Set<string>() };
  const add = (kind: keyof typeof made, name: string): string => {
    made[kind].add(`${prefix}-${name}`);
    return `${prefix}-${name}`;
  };
  return {
    importImage(name, dir, changes = []) {
      const tag = add("image", name);
      const script = 'dir=$0; tag=$1; shift; tar -C "$dir" -c . | docker import "$@" - "$tag"';
      const options = changes.map((change) => `--change=${change}`);
      const { status, stderr } = spawnSync("sh", ["-c", script, dir, tag, ...options], { encoding: "utf8" });
      if (status !== 0) throw new Error(stderr);
      return tag;
    },
    volume: (name) => add("volume", name),
    container: (name) => add("container", name),
    run: (...args) => docker(["run", "--rm", "--name", add("container", randomBytes(4).toString("hex")), ...args]),
    docker,
    remove() {
      for (const [kind, names] of Object.entries(made))
        if (names.size > 0) spawnSync("docker", [kind, "rm", "-f", ...names], { stdio: "ignore" });
    },
  };
}

async function docker(args: readonly string[], input = ""): Promise<Ended> {
  const child = spawn("docker", [...args], { stdio: "pipe" });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => (texts[name] += text));
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  return new Promise((fulfil, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => fulfil({ code, signal, ...texts }));
  });
}
