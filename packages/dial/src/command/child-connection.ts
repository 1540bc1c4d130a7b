import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type net from "node:net";
import { socketPair } from "./socket-pair.ts";

/** A running child whose stdin and stdout are the other end of `socket`. */
export interface ChildConnection {
  readonly socket: net.Socket;
  /** How the child ended, or undefined when it still runs after this time. */
  untilEnded(timeoutMs: number): Promise<string | undefined>;
}

/** The process to start. `env` replaces the environment of this process. */
export interface ChildCommand {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

const KILL_AFTER_MS = 2000;
const OWN_END_MS = 1000;

/**
 * Starts a program as the leader of a process group, with one socket as its stdin and stdout. When the socket closes the group
 * is ended: TERM at once, or after a second when the child closed first and is about to end by itself; KILL 2 s later.
 * Rejects with the system's error when the program cannot be started.
 */
export async function spawnOnSocket(target: ChildCommand, onStderr: (chunk: Buffer) => void): Promise<ChildConnection> {
  const [socket, far] = await socketPair();
  try {
    const child = spawn(target.command, target.args ?? [], {
      stdio: [far, far, "pipe"],
      detached: true,
      ...(target.env !== undefined && { env: { ...target.env } }),
      ...(target.cwd !== undefined && { cwd: target.cwd }),
    });
    child.stderr?.on("data", onStderr);
    const closed = once(child, "close");
    closed.catch(() => undefined); // An error in starting is told by the wait below.
    await once(child, "spawn");
    const group = new ProcessGroup(child);
    socket.once("close", () => group.end(socket.readableEnded ? OWN_END_MS : 0));
    if (socket.closed) group.end(0);
    return { socket, untilEnded: (timeoutMs) => endOf(closed, timeoutMs) };
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    far.destroy();
  }
}

async function endOf(closed: Promise<unknown[]>, timeoutMs: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  try {
    const end = await Promise.race([closed, promise]);
    if (end === undefined) return undefined;
    const [code, signal] = end as [number | null, NodeJS.Signals | null];
    return code === null ? `signal ${signal}` : `exit status ${code}`;
  } finally {
    clearTimeout(timer);
  }
}

/** A child and what it started. Once nothing of it is left it is never signalled again: its number may be another's by then. */
class ProcessGroup {
  readonly #child: ChildProcess;
  #timer: NodeJS.Timeout | undefined;
  #isGone = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.once("exit", () => this.#onExit());
  }

  end(delayMs: number): void {
    if (this.#isGone) return;
    if (delayMs > 0) this.#timer = setTimeout(() => this.#terminate(), delayMs);
    else this.#terminate();
  }

  #terminate(): void {
    this.#signal("SIGTERM");
    if (!this.#isGone) this.#timer = setTimeout(() => this.#signal("SIGKILL"), KILL_AFTER_MS);
  }

  #onExit(): void {
    this.#signal(0);
    if (this.#isGone) clearTimeout(this.#timer);
    this.#closeStderrSoon();
  }

  #signal(signal: NodeJS.Signals | 0): void {
    try {
      process.kill(-(this.#child.pid as number), signal);
    } catch (error) {
      // EPERM: somebody is there that we may not signal, a program that runs as another user.
      this.#isGone = !(error instanceof Error && "code" in error && error.code === "EPERM");
    }
  }

  /** A daemon that outlives the child (the master of shared SSH connections) may hold on to its stderr. */
  #closeStderrSoon(): void {
    const { stderr } = this.#child;
    if (stderr === null || stderr.closed) return;
    const timer = setTimeout(() => stderr.destroy(), OWN_END_MS);
    stderr.once("close", () => clearTimeout(timer));
  }
}
