import { randomBytes } from "node:crypto";
import { chmodSync, linkSync, lstatSync, renameSync, rmSync, statSync, type BigIntStats } from "node:fs";
import { connect, type Server } from "node:net";
import { dirname, isAbsolute, join } from "node:path";
import { messageOf } from "@steps/model";
import { makePrivateFolder } from "@steps/platform";
import { ServiceError } from "../service-error.ts";

/** The longest path that fits into `sockaddr_un`, without the final NUL. */
const MAX_PATH_BYTES = process.platform === "darwin" ? 103 : 107;
const PROBE_MS = 5000;
const PROBES = 5;
const ATTEMPTS = 200;
const WAIT_MS = 25;

/** A socket's place in the file system that this process holds. */
export interface SocketFile {
  readonly path: string;
  /** Removes it, unless it has become another's. */
  remove(): void;
}

/**
 * Makes a server listen at a path, readable and writable by us alone from its first moment on. A socket that nobody
 * listens to any more is replaced; of several processes that start at once one gets the place.
 *
 * @throws {ServiceError} SOCKET_IN_USE if another process listens there; SOCKET_UNUSABLE for a path that is too long, a
 * folder that others may write to, or something there that is no socket
 */
export async function listenAt(server: Server, path: string): Promise<SocketFile> {
  assertPath(path);
  prepareFolder(dirname(path));
  // The server listens before anybody can see it, so a socket that refuses is one whose process is gone.
  const draft = draftPath(path);
  await bind(server, draft);
  try {
    const own = lstatSync(draft, { bigint: true });
    await claim(draft, path);
    return { path, remove: () => removeIf(path, own) };
  } catch (error) {
    server.close();
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Says whether a service listens at a path already, before anything else is made.
 *
 * @throws {ServiceError} SOCKET_IN_USE; SOCKET_UNUSABLE for something there that is no socket
 */
export async function assertSocketFree(path: string): Promise<void> {
  await findStale(path);
}

function draftPath(path: string): string {
  return join(dirname(path), `.${randomBytes(3).toString("hex")}`);
}

function assertPath(path: string): void {
  if (!isAbsolute(path) || path.includes("\0"))
    throw new ServiceError("SOCKET_UNUSABLE", `Cannot listen on "${path}": it is no absolute path`);
  const bytes = Math.max(Buffer.byteLength(path), Buffer.byteLength(draftPath(path)));
  if (bytes <= MAX_PATH_BYTES) return;
  throw new ServiceError(
    "SOCKET_UNUSABLE",
    `Cannot listen on "${path}": its ${bytes} bytes are more than the ${MAX_PATH_BYTES} that a socket's path may have`,
    { hint: "Name a shorter one with --socket." },
  );
}

/** Others may not put their socket where ours is looked for. A folder like /tmp keeps its files from other users itself. */
function prepareFolder(folder: string): void {
  try {
    makePrivateFolder(folder);
  } catch (cause) {
    throw new ServiceError("SOCKET_UNUSABLE", `Cannot make the folder "${folder}" for the socket: ${codeOf(cause)}`, {
      cause,
    });
  }
  const { mode, uid } = statSync(folder);
  const isSticky = (mode & 0o1000) !== 0;
  const own = process.getuid?.() ?? uid;
  if (isSticky && (uid === own || uid === 0)) return;
  const problem =
    uid !== own ? `it belongs to user ${uid}` : (mode & 0o022) !== 0 ? "others may write to it" : undefined;
  if (problem === undefined) return;
  throw new ServiceError("SOCKET_UNUSABLE", `Cannot listen in the folder "${folder}": ${problem}`, {
    hint: uid === own ? `Run chmod go-w ${folder}, or name another place.` : "Name another place with --socket.",
  });
}

async function bind(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void =>
      reject(
        new ServiceError("SOCKET_UNUSABLE", `Cannot listen in the folder "${dirname(path)}": ${codeOf(cause)}`, {
          cause,
        }),
      );
    server.once("error", fail);
    const listen = (): void => {
      server.listen({ path, backlog: 511 }, () => {
        server.off("error", fail);
        resolve();
      });
    };
    // The file is made within this very call, so nobody else sees the mask.
    withUmask(0o177, listen);
  });
  chmodSync(path, 0o600);
}

function codeOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException).code ?? messageOf(cause);
}

function withUmask(mask: number, run: () => void): void {
  let before: number | undefined;
  try {
    before = process.umask(mask);
  } catch {
    // A worker thread may not; then the mode is set before the socket gets its name.
  }
  try {
    run();
  } finally {
    if (before !== undefined) process.umask(before);
  }
}

/** Gives the draft its name. Only who holds the lock, a second name of its own live socket, takes a stale one away. */
async function claim(draft: string, path: string): Promise<void> {
  const lock = `${path}~`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (link(draft, path)) return;
    await findStale(path);
    if (!link(draft, lock)) {
      const stale = lstatSync(lock, { bigint: true, throwIfNoEntry: false });
      if (await isAlive(lock)) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      else if (stale !== undefined) takeAway(lock, stale);
      continue;
    }
    try {
      // The stale socket may have been replaced before the lock was ours.
      const stale = await findStale(path);
      if (stale !== undefined) takeAway(path, stale);
      if (link(draft, path)) return;
    } finally {
      rmSync(lock, { force: true });
    }
  }
  throw inUse(path);
}

/** Returns true if the link was made, and false if the path exists already. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new ServiceError("SOCKET_UNUSABLE", `Cannot make the socket "${to}": ${codeOf(cause)}`, { cause });
  }
}

/** The socket there that nobody listens to; `undefined` if there is nothing. */
async function findStale(path: string): Promise<BigIntStats | undefined> {
  const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (there === undefined) return undefined;
  if (!there.isSocket())
    throw new ServiceError("SOCKET_UNUSABLE", `Cannot listen on "${path}": there is something that is no socket`);
  if (await isAlive(path)) throw inUse(path);
  return there;
}

function inUse(path: string): ServiceError {
  return new ServiceError("SOCKET_IN_USE", `A service is already running on socket "${path}"`, {
    hint: "Use it, or give this one another place with --socket.",
  });
}

/** Whether anybody listens. One that does not answer in time is busy, not gone. */
async function isAlive(path: string): Promise<boolean> {
  for (let probe = 1; probe <= PROBES; probe += 1) {
    const answer = await probeSocket(path);
    if (answer !== "closed") return answer === "alive";
  }
  return true;
}

/** `closed` when the listener went away while it was connected to; the next one tells whether another has come. */
function probeSocket(path: string): Promise<"alive" | "gone" | "closed"> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    const finish = (answer: "alive" | "gone" | "closed"): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish("alive"), PROBE_MS);
    socket.once("connect", () => finish("alive"));
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") return finish("gone");
      if (error.code === "EAGAIN") return finish("alive");
      if (error.code === "ECONNRESET") return finish("closed");
      clearTimeout(timer);
      reject(
        new ServiceError("SOCKET_UNUSABLE", `Cannot tell who listens on "${path}": ${codeOf(error)}`, { cause: error }),
      );
    });
  });
}

// A socket that was replaced since it was looked at is put back.
function takeAway(path: string, stale: BigIntStats): void {
  const aside = draftPath(path);
  try {
    renameSync(path, aside);
    if (!isSame(lstatSync(aside, { bigint: true }), stale)) linkSync(aside, path);
  } catch {
    // Another starter was faster.
  } finally {
    rmSync(aside, { force: true });
  }
}

function removeIf(path: string, own: BigIntStats): void {
  const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (there !== undefined && isSame(there, own)) rmSync(path, { force: true });
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}
