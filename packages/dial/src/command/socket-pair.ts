import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

// A path of a unix socket has room for 104 bytes on macOS, 108 on Linux.
const MAX_FOLDER_BYTES = 75;

/**
 * Two connected sockets of this process, as socketpair(2) makes them, by way of a private folder that is gone afterwards.
 * The second one is not read here: it is meant for a child.
 */
export async function socketPair(): Promise<[near: net.Socket, far: net.Socket]> {
  const folder = await mkdtemp(join(shortTmpdir(), "dial-pair-"));
  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true });
  try {
    server.listen(join(folder, "s"));
    await once(server, "listening");
    const accepted = once(server, "connection") as Promise<[net.Socket]>;
    const near = net.connect({ path: join(folder, "s") });
    const [[far]] = await Promise.all([accepted, once(near, "connect")]);
    return [near, far];
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function shortTmpdir(): string {
  return Buffer.byteLength(tmpdir()) > MAX_FOLDER_BYTES ? "/tmp" : tmpdir();
}
