import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";

/** The first frame of an HTTP/2 server. */
export const SETTINGS: Buffer = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

/** A server on a unix socket that begins as HTTP/2 does; what follows is up to `onSocket`. */
export interface FakeService extends AsyncDisposable {
  readonly path: string;
  /** Those that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Resolves once so many are open. */
  readonly untilOpen: (count: number) => Promise<void>;
}

export async function startService(path: string, onSocket: (socket: Socket) => void): Promise<FakeService> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      server.emit("change");
    });
    socket.write(SETTINGS);
    onSocket(socket);
    server.emit("change");
  }).listen(path);
  await once(server, "listening");
  return {
    path,
    sockets,
    untilOpen: async (count) => {
      while (sockets.size !== count) await once(server, "change");
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Sends back all that comes. */
export function echo(socket: Socket): void {
  socket.pipe(socket);
}

/** Bytes that repeat nowhere near. */
export function sequence(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  return bytes;
}

/** Reads up to the end, or so many bytes; says how many and their digest. */
export async function digestOf(
  stream: Duplex,
  length = Number.POSITIVE_INFINITY,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
    if (bytes >= length) break;
  }
  return { bytes, sha256: hash.digest("hex") };
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Reads exactly so many bytes. */
export async function readBytes(stream: Duplex, length: number): Promise<Buffer> {
  for (;;) {
    const bytes = stream.read(length) as Buffer | null;
    if (bytes !== null) return bytes;
    if (stream.destroyed || stream.readableEnded) throw stream.errored ?? new Error("It ended");
    await Promise.race([once(stream, "readable"), once(stream, "close")]);
  }
}

/** Puts a proxy with this name into a folder: it connects its stdin and stdout with the socket, as `step-runner proxy`. */
export function installProxy(binDir: string, name: string, socket: string): void {
  mkdirSync(binDir, { recursive: true });
  writeFileSync(
    join(binDir, `${name}.mjs`),
    `import { connect } from "node:net";
    const socket = connect(${JSON.stringify(socket)});
    const leave = (code) => process.exit(code);
    socket.on("error", (error) => { console.error("no service: " + error.code); leave(1); });
    socket.on("close", () => process.stdout.write("", () => leave(0)));
    process.stdin.on("end", () => leave(0));
    process.stdin.pipe(socket);
    socket.pipe(process.stdout);`,
  );
  installScript(binDir, { name, text: `exec '${process.execPath}' "$0.mjs" "$@"` });
}

export function installScript(binDir: string, { name, text }: { name: string; text: string }): void {
  mkdirSync(binDir, { recursive: true });
  writeFileSync(join(binDir, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(binDir, name), 0o755);
}
