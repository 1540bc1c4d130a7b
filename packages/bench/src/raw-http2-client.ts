import { connect, type ClientHttp2Session } from "node:http2";
import { createConnection } from "node:net";

/** The floor of a client: node:http2 alone, with the frames of gRPC. */
export interface RawClient extends Disposable {
  /** Gives the first message of the answer. */
  call(message: Uint8Array): Promise<Uint8Array>;
  /** Reads a stream to its end and gives the number of its bytes. */
  stream(): Promise<number>;
}

const HEADERS = { ":method": "POST", "content-type": "application/grpc+proto", te: "trailers" } as const;

/** @param path of the call; that of the floor by default */
export function connectRaw(socket: string, path: string = "/call"): RawClient {
  const session = connect("http://localhost", {
    createConnection: () => createConnection(socket),
    settings: { initialWindowSize: 1 << 20 },
  });
  session.on("connect", () => session.setLocalWindowSize(1 << 20));
  return {
    call: (message) => call(session, path, message),
    stream: () => readStream(session),
    [Symbol.dispose]: () => session.destroy(),
  };
}

function call(session: ClientHttp2Session, path: string, message: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ...HEADERS, ":path": path });
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("error", reject);
    stream.on("end", () => resolve(Buffer.concat(parts).subarray(5)));
    const frame = Buffer.alloc(5);
    frame.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([frame, message]));
  });
}

function readStream(session: ClientHttp2Session): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ...HEADERS, ":path": "/stream" });
    let bytes = 0;
    stream.on("data", (part: Buffer) => (bytes += part.length));
    stream.on("error", reject);
    stream.on("end", () => resolve(bytes));
    stream.end();
  });
}
