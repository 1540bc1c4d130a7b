import { type ClientHttp2Stream, connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:net";

/** How a call ended: the status of gRPC, or why there is none. */
export interface RawAnswer {
  readonly status: string;
  readonly message: string;
}

/** The time after which a service counts as one that does not answer. */
const LIMIT_MS = 40_000;

const PIECE_BYTES = 1024 * 1024;

/** Sends bytes as the one message of a call, over a connection of its own, and waits for the status. */
export function callRaw(socket: string, path: string, message: Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    // Bytes that wait to be sent count as memory of the session; at its default limit of 10 MB it would refuse the
    // answer.
    const options = { createConnection: () => connect(socket), maxSessionMemory: 1000 };
    const session = connectHttp2("http://localhost", options);
    let answer: RawAnswer = { status: "none", message: "" };
    const timer = setTimeout(() => {
      answer = { status: "none", message: `no answer within ${LIMIT_MS / 1000} s` };
      end();
    }, LIMIT_MS);
    const end = (): void => {
      clearTimeout(timer);
      session.destroy();
      resolve(answer);
    };
    session.on("error", end).on("close", end);
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
    const stream = session.request(headers);
    const take = (fields: IncomingHttpHeaders): void => {
      const { "grpc-status": status, "grpc-message": text } = fields;
      if (typeof status !== "string") return;
      answer = { status, message: decodeURIComponent(typeof text === "string" ? text : "") };
    };
    stream
      .on("response", take)
      .on("trailers", take)
      .on("error", () => undefined)
      .on("close", end)
      .resume();
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    stream.write(head);
    send(stream, message);
  });
}

/** Sends a message in pieces, each once there is room for it, and none to a stream that was answered and closed. */
function send(stream: ClientHttp2Stream, rest: Buffer): void {
  if (stream.closed || stream.destroyed) return;
  if (rest.length === 0) stream.end();
  else stream.write(rest.subarray(0, PIECE_BYTES), () => send(stream, rest.subarray(PIECE_BYTES)));
}
