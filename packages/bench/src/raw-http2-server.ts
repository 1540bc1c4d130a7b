// The floor of a service: node:http2 alone, with the frames of gRPC. Arguments: the socket, and a file to stream.
import { closeSync, openSync, readSync } from "node:fs";
import { createServer, type ServerHttp2Stream } from "node:http2";

const [socket = "", file = "", answerBase64 = ""] = process.argv.slice(2);
const CHUNK = 64 * 1024;
const headers = { ":status": 200, "content-type": "application/grpc+proto" } as const;

function frame(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(5 + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, 5);
  return bytes;
}

function respond(stream: ServerHttp2Stream): void {
  stream.respond(headers, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
}

const answer = frame(Buffer.from(answerBase64, "base64"));
// A protobuf message with the bytes in its first field, as a piece of a log has them.
const prefix = Buffer.from([0x0a, 0x80, 0x80, 0x04]);

async function streamFile(stream: ServerHttp2Stream): Promise<void> {
  const fd = openSync(file, "r");
  const chunk = Buffer.allocUnsafe(CHUNK);
  for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
    const message = Buffer.concat([prefix, chunk.subarray(0, read)]);
    if (!stream.write(frame(message))) await new Promise((resolve) => stream.once("drain", resolve));
  }
  closeSync(fd);
  stream.end();
}

const server = createServer({ settings: { initialWindowSize: 1 << 20 } });
server.on("stream", (stream: ServerHttp2Stream, request) => {
  stream.on("error", () => undefined);
  if (request[":path"] === "/stream") {
    stream.resume();
    respond(stream);
    void streamFile(stream);
    return;
  }
  const parts: Buffer[] = [];
  stream.on("data", (part: Buffer) => parts.push(part));
  stream.on("end", () => {
    respond(stream);
    stream.end(answer);
  });
});
server.listen(socket, () => process.stderr.write("is listening on socket\n"));
