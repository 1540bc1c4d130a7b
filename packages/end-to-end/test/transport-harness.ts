import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, copyFileSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Duplex } from "node:stream";
import type { Dial } from "@steps/client";
import { createSshDialer, dialCommand, dialDocker, dialKubernetes, dialUnix } from "@steps/dial";
import { compileCache, hasProgram, startKubernetesServer, startSshServer, tempDir } from "@steps/testkit";
import { afterAll } from "vitest";

const COMMAND = resolve(import.meta.dirname, "../../../node_modules/.bin/step-runner");

/** A way to a service that runs, and what has to be done when it is not needed any more. */
interface Way extends AsyncDisposable {
  readonly dial: Dial;
  /** The path at which the service's jobs find the folder that was given. */
  readonly data: string;
}

export interface Transport {
  readonly name: string;
  readonly isThere: () => boolean;
  readonly open: (data: string) => Promise<Way>;
  /** Another way of one that is here already: what is sent through it may be less. */
  readonly isSecondWay?: boolean;
}

/** Whether a Docker daemon answers; one that is not there is named as a program that is not installed. */
export function hasDocker(): boolean {
  return (
    hasProgram("docker") &&
    (spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0 || hasProgram("dockerd-running"))
  );
}

export const TRANSPORTS: readonly Transport[] = [
  {
    name: "unix socket",
    isThere: () => true,
    open: async (data) => onHost(data, async ({ socket }) => dialUnix({ path: socket })),
  },
  {
    name: "stdio of step-runner proxy",
    isThere: () => true,
    open: async (data) =>
      onHost(data, async ({ socket }) => dialCommand({ command: COMMAND, args: ["proxy", "--socket", socket] })),
  },
  { name: "Docker exec", isThere: hasDocker, open: inContainer },
  {
    name: "SSH, streamlocal",
    isThere: () => hasProgram("sshd", "/usr/sbin"),
    open: (data) => onHost(data, overSsh("socket")),
  },
  {
    name: "SSH, exec of the proxy",
    isSecondWay: true,
    isThere: () => hasProgram("sshd", "/usr/sbin"),
    open: (data) => onHost(data, overSsh("exec")),
  },
  { name: "Kubernetes exec", isThere: () => true, open: (data) => onHost(data, overKubernetes) },
];

interface Host {
  readonly socket: string;
  /** Called when the way is not needed any more, the last first. */
  readonly atEnd: (() => Promise<void>)[];
}

async function onHost(data: string, dialOf: (host: Host) => Promise<Dial>): Promise<Way> {
  const service = await startService();
  const host: Host = { socket: service.socket, atEnd: [service.stop] };
  const dial = await dialOf(host);
  return {
    dial,
    data,
    [Symbol.asyncDispose]: async () => {
      for (const end of host.atEnd.toReversed()) await end();
    },
  };
}

/** A service of the built command, with a home of its own. */
export async function startService(): Promise<{
  readonly socket: string;
  readonly home: string;
  readonly child: ChildProcess;
  readonly stop: () => Promise<void>;
}> {
  const home = tempDir();
  const socket = join(home, "run", "s.sock");
  const env = { PATH: process.env["PATH"], HOME: home, ...compileCache() };
  const child = spawn(COMMAND, ["serve", "--socket", socket], { env, stdio: ["ignore", "ignore", "pipe"] });
  let seen = "";
  for await (const chunk of child.stderr) {
    seen += String(chunk);
    if (seen.includes("is listening on socket")) break;
  }
  if (!seen.includes("is listening on socket")) throw new Error(`The service did not start: ${seen}`);
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  return { socket, home, child, stop };
}

function overSsh(way: "socket" | "exec"): (host: Host) => Promise<Dial> {
  return async ({ socket, atEnd }) => {
    const server = await startSshServer(way === "exec" ? { config: ["AllowStreamLocalForwarding no"] } : {});
    const dialer = createSshDialer({
      host: server.host,
      port: server.port,
      user: server.user,
      identityFiles: [server.identityFile],
      agent: false,
      knownHostsFiles: [server.knownHostsFile],
      ...(way === "exec" ? { proxyCommand: [COMMAND, "proxy", "--socket", socket] } : { socket }),
    });
    atEnd.push(
      async () => server[Symbol.asyncDispose](),
      async () => dialer[Symbol.asyncDispose](),
    );
    return dialer.dial;
  };
}

async function overKubernetes({ socket, atEnd }: Host): Promise<Dial> {
  const server = await startKubernetesServer({ pods: [{ name: "job", containers: ["build"] }] });
  atEnd.push(() => server.close());
  const kubeconfig = join(tempDir(), "config");
  const text = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    clusters: [{ name: "k", cluster: { server: server.url } }],
    users: [{ name: "u", user: {} }],
  };
  const fd = openSync(kubeconfig, "w", 0o600);
  writeSync(fd, JSON.stringify(text));
  closeSync(fd);
  return dialKubernetes({
    pod: "job",
    container: "build",
    kubeconfig,
    command: [COMMAND, "proxy", "--socket", socket],
  });
}

/** A container with busybox and nothing else, and in it the service as `bootstrap` left it. */
async function inContainer(data: string): Promise<Way> {
  const { name, dispose } = startContainer(data, ["serve", "--socket", "/tmp/step-runner.sock"]);
  await containerSays(name, "is listening on socket");
  return { dial: dialDocker({ container: name }), data: "/data", [Symbol.asyncDispose]: async () => dispose() };
}

let image: string | undefined;
// A worker is ended by a signal, so that what it does at its exit may never be done.
afterAll(() => void (image !== undefined && docker("rmi", "--force", image)));

/** Starts the bootstrapped program in a container of an image that has busybox only. */
export function startContainer(
  data: string,
  args: readonly string[],
): { readonly name: string; readonly dispose: () => void } {
  const volume = tempDir();
  execFileSync(COMMAND, ["steps", "bootstrap", join(volume, "gitlab-runner-helper")], { stdio: "ignore" });
  image ??= importImage();
  const name = `steps-test-${randomBytes(6).toString("hex")}`;
  const mounts = ["-v", `${volume}:/opt/gitlab-runner:ro`, "-v", `${data}:/data:ro`];
  const program = "/opt/gitlab-runner/gitlab-runner-helper";
  docker("run", "-d", "--name", name, "--network", "none", ...mounts, image, program, ...args);
  return { name, dispose: () => void docker("rm", "-f", "-v", name) };
}

/** Waits for a text in what a container writes. */
export async function containerSays(name: string, text: string): Promise<void> {
  const logs = spawn("docker", ["logs", "-f", name], { stdio: ["ignore", "pipe", "pipe"] });
  try {
    let seen = "";
    logs.stdout.on("data", (chunk: Buffer) => (seen += String(chunk)));
    for await (const chunk of logs.stderr) {
      seen += String(chunk);
      if (seen.includes(text)) return;
    }
    throw new Error(`The container ended without "${text}": ${seen}`);
  } finally {
    logs.kill();
  }
}

export function docker(...args: readonly string[]): string {
  return execFileSync("docker", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

function importImage(): string {
  const root = tempDir();
  for (const folder of ["bin", "tmp", "root", "etc", "proc"]) mkdirSync(join(root, folder));
  copyFileSync("/bin/busybox", join(root, "bin/busybox"));
  for (const applet of ["sh", "cat", "sleep", "mkfifo", "echo", "kill"]) {
    execFileSync("ln", ["-s", "busybox", join(root, "bin", applet)]);
  }
  const tag = `steps-test-${randomBytes(6).toString("hex")}`;
  execFileSync("sh", ["-c", `tar -C '${root}' -c . | docker import - ${tag}`], { stdio: "ignore" });
  return tag;
}

/** Each line is another one, so that nothing can be lost, repeated or swapped unseen. */
export function writeData(dir: string, bytes: number): { readonly file: string; readonly sha256: string } {
  const file = join(dir, String(bytes));
  const hash = createHash("sha256");
  const fd = openSync(file, "w");
  let line = 0;
  for (let left = bytes; left > 0;) {
    let block = "";
    for (let i = 0; i < 20_000; i++)
      block += `${(line++).toString(36).padStart(9, "0")} the quick brown fox jumps over it\n`;
    const chunk = Buffer.from(block).subarray(0, left);
    hash.update(chunk);
    writeSync(fd, chunk);
    left -= chunk.length;
  }
  closeSync(fd);
  return { file, sha256: hash.digest("hex") };
}

/** A dial whose newest connection can be cut. */
export function cuttable(dial: Dial): { readonly dial: Dial; readonly cut: () => void; readonly count: () => number } {
  let current: Duplex | undefined;
  let count = 0;
  return {
    dial: async (signal) => {
      current = await dial(signal);
      count += 1;
      return current;
    },
    cut: () => current?.destroy(),
    count: () => count,
  };
}

/** Ascending places in a stream of so many bytes; none is in its last tenth, so that something comes behind each. */
export function randomPlaces(bytes: number, count: number): number[] {
  const end = Math.floor(bytes * 0.9);
  return Array.from({ length: count }, () => randomBytes(6).readUIntBE(0, 6) % end).toSorted((a, b) => a - b);
}
