import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { findProgram, runBriefly } from "@steps/platform/processes";

/** The command of a container engine. */
export interface ContainerCli {
  /** Absolute. */
  readonly program: string;
  readonly kind: "docker" | "podman";
}

type Environment = Readonly<Record<string, string | undefined>>;

const CHECK_TIMEOUT_MS = 10_000;
const MAX_SHIM_BYTES = 4096;

/**
 * The `docker` on a PATH, else the `podman`. A `docker` that is Podman under another name is told by what it is. Starts no process;
 * entries that are not absolute are passed over.
 */
export function findContainerCli(path: string | undefined): ContainerCli | undefined {
  const docker = findOn(path, "docker");
  if (docker !== undefined && !isPodman(docker)) return { program: docker, kind: "docker" };
  // Podman itself before a script that calls it: shells drop variables that they have no names for, as `INPUT_FETCH-DEPTH`.
  const podman = findOn(path, "podman") ?? docker;
  return podman === undefined ? undefined : { program: podman, kind: "podman" };
}

function findOn(path: string | undefined, name: string): string | undefined {
  for (const dir of (path ?? "").split(":").filter(isAbsolute)) {
    const program = findProgram(join(dir, name), { path: undefined, workDir: "/" });
    if (program !== undefined) return program;
  }
  return undefined;
}

function isPodman(program: string): boolean {
  try {
    const file = realpathSync(program);
    if (basename(file).startsWith("podman")) return true;
    return statSync(file).size <= MAX_SHIM_BYTES && /^#!.*\n[^]*\bpodman\b/.test(readStart(file));
  } catch {
    // Not to be read: then it is what its name says.
    return false;
  }
}

function readStart(file: string): string {
  const fd = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(MAX_SHIM_BYTES);
    return buffer.toString("latin1", 0, readSync(fd, buffer));
  } finally {
    closeSync(fd);
  }
}

/** The socket of the daemon on this machine, if there is one: what a container may find as `/var/run/docker.sock`. */
export function findContainerSocket(cli: ContainerCli, env: Environment): string | undefined {
  const host = env[cli.kind === "docker" ? "DOCKER_HOST" : "CONTAINER_HOST"];
  if (host !== undefined && host !== "")
    return host.startsWith("unix://") ? socketAt(host.slice("unix://".length)) : undefined;
  if (cli.kind === "docker") return socketAt("/var/run/docker.sock");
  const runtimeDir = env["XDG_RUNTIME_DIR"];
  const own = runtimeDir === undefined ? undefined : socketAt(join(runtimeDir, "podman/podman.sock"));
  return own ?? socketAt("/run/podman/podman.sock");
}

function socketAt(path: string): string | undefined {
  try {
    return isAbsolute(path) && statSync(path).isSocket() ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Whether containers can be run, or what is in the way. */
export type ContainerCheck =
  | { readonly isUsable: true; /** Of the daemon, or of Podman. */ readonly version: string }
  | { readonly isUsable: false; readonly message: string; readonly hint: string };

/** Asks the daemon for its version, Podman for its own. Takes 10 s at most; never rejects. */
export async function checkContainerCli(
  cli: ContainerCli,
  options: { readonly env: Environment; readonly timeoutMs?: number; readonly signal?: AbortSignal },
): Promise<ContainerCheck> {
  const { timeoutMs = CHECK_TIMEOUT_MS, env, signal } = options;
  const isDocker = cli.kind === "docker";
  // Podman has no daemon; this opens its storage.
  const args = isDocker ? ["version", "--format={{.Server.Version}}"] : ["info", "--format={{.Version.Version}}"];
  const answer = await runBriefly({ program: cli.program, args, env, timeoutMs, signal });
  const version = answer.stdout.trim();
  if (answer.exitCode === 0 && /^[\w.+~-]{1,100}$/.test(version)) return { isUsable: true, version };
  const problem = answer.isTimedOut
    ? `no answer within ${timeoutMs} ms`
    : (answer.startError?.message ?? lastLine(answer.stderr) ?? "no usable answer");
  return {
    isUsable: false,
    message: `Cannot run containers with "${cli.program}": ${problem}`,
    hint: isDocker
      ? "Start the Docker daemon, or set DOCKER_HOST to one that this user may use."
      : "Run podman info as this user to see what it needs.",
  };
}

function lastLine(text: string): string | undefined {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.findLast((line) => line !== "")?.slice(0, 300);
}
