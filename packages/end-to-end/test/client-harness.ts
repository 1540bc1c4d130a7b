import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { compileCache, tempDir } from "@steps/testkit";
import { onTestFinished, vi } from "vitest";

// On a machine that is busy each program takes its time.
vi.setConfig({ testTimeout: 240_000 });

const ROOT = resolve(import.meta.dirname, "../../..");
const SOURCES = "--conditions=steps-source";

/** The end of one of our programs, and its output. */
interface Ended {
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A program of ours that runs; it is killed when the test ends. */
interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with what was written so far when it contains the text. */
  until(stream: "stdout" | "stderr", text: string): Promise<string>;
}

/** A user with folders of its own, and what that user starts. */
export interface User {
  readonly dir: string;
  readonly socket: string;
  serve(...flags: readonly string[]): Promise<Running>;
  bridge(...args: readonly string[]): Running;
  start(script: string, args: readonly string[]): Running;
}

/** A new user, whose service has a socket and a state of its own. */
export function createUser(): User {
  const dir = tempDir();
  const socket = join(dir, "run/step-runner.sock");
  const env = {
    PATH: process.env["PATH"],
    HOME: dir,
    TMPDIR: dir,
    STEP_RUNNER_SOCKET: socket,
    NO_COLOR: "1",
    ...compileCache(),
  };
  const start = (script: string, args: readonly string[]): Running =>
    run(spawn(process.execPath, [SOURCES, script, ...args], { env, cwd: dir, stdio: ["ignore", "pipe", "pipe"] }));
  return {
    dir,
    socket,
    start,
    bridge: (...args) => start(join(ROOT, "apps/runner-bridge/dist/main.cjs"), args),
    async serve(...flags) {
      const service = start(join(ROOT, "apps/step-runner/dist/main.cjs"), ["serve", ...flags]);
      await service.until("stderr", "is listening on socket");
      return service;
    },
  };
}

function run(child: ChildProcess): Running {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const text = (stream: "stdout" | "stderr"): string => Buffer.concat(chunks[stream]).toString();
  for (const stream of ["stdout", "stderr"] as const)
    child[stream]?.on("data", (chunk: Buffer) => chunks[stream].push(chunk));
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  return {
    child,
    ended: closed.then(([status]) => ({
      status: status as number | null,
      stdout: Buffer.concat(chunks.stdout),
      stderr: text("stderr"),
    })),
    async until(stream, wanted) {
      const isOver = closed.then(() => true);
      while (!text(stream).includes(wanted)) {
        const more = once(child[stream] as NonNullable<ChildProcess["stdout"]>, "data").then(() => false);
        if ((await Promise.race([isOver, more])) && !text(stream).includes(wanted))
          throw new Error(`It ended without "${wanted}": ${text("stdout")}${text("stderr")}`);
      }
      return text(stream);
    },
  };
}

/** Decides what becomes of a connection when bytes have come: `true` ends it, after they were passed on. */
export type Cut = (
  from: "client" | "service",
  chunk: Buffer,
  connection: { bytes: number; readonly number: number },
) => boolean;

/** A socket that passes bytes on to the service's, until it cuts. */
export async function startCuttingRelay(
  user: User,
  cut: Cut,
): Promise<{ readonly path: string; readonly connections: () => number }> {
  const path = join(user.dir, "relay.sock");
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const connection = { bytes: 0, number: connections++ };
    const far = connect(user.socket);
    const end = (): void => void (near.destroy(), far.destroy());
    const pass = (from: "client" | "service", source: Socket, sink: Socket): void => {
      sockets.add(source);
      source.on("error", end).on("close", end);
      source.on("close", () => sockets.delete(source));
      source.on("data", (chunk: Buffer) => {
        connection.bytes += chunk.length;
        const isOver = cut(from, chunk, connection);
        if (isOver) source.pause();
        // The bytes that were passed on arrive; the answer to them does not.
        const isTaken = sink.write(chunk, () => void (isOver && setTimeout(end, 50)));
        if (isOver && from === "client") sink.pause();
        if (!isTaken) source.pause();
      });
      sink.on("drain", () => source.resume());
    };
    pass("client", near, far);
    pass("service", far, near);
  });
  await new Promise<void>((listening) => server.listen(path, listening));
  onTestFinished(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return { path, connections: () => connections };
}
