// Loaded before a program that is measured: counts the bytes on the connections that it has accepted, in both directions, and writes
// their sum into a file when it is sent USR2. Each connection between programs of a cluster is accepted by one of them.
import { subscribe } from "node:diagnostics_channel";
import { renameSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";

const open = new Set<Socket>();
let closed = 0;
const bytesOf = ({ bytesRead, bytesWritten }: Socket): number => bytesRead + bytesWritten;

subscribe("net.server.socket", (message) => {
  const { socket } = message as { readonly socket: Socket };
  open.add(socket);
  socket.once("close", () => {
    open.delete(socket);
    closed += bytesOf(socket);
  });
});

const file = process.env["BENCH_BYTES_FILE"];
if (file !== undefined)
  process.on("SIGUSR2", () => {
    const sum = [...open].reduce((all, socket) => all + bytesOf(socket), closed);
    writeFileSync(`${file}.new`, String(sum));
    renameSync(`${file}.new`, file);
  });
