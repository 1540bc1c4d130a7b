import { Agent, request } from "node:http";
import type { Readable } from "node:stream";

/** An answer, whole. */
export interface Reply {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

/** A request with its body; a stream is sent in chunks. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
  /** Takes the bytes of the answer instead of keeping them. */
  readonly onBytes?: (bytes: Buffer) => void;
}

/** Sends requests to one server over connections that stay. The same for floors and for what is measured. */
export interface HttpClient extends Disposable {
  send(call: Call): Promise<Reply>;
}

export function connectHttp(url: string): HttpClient {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 20_000 });
  let isDisposed = false;
  const send = (call: Call): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const { method, path, headers = {}, body, onBytes } = call;
      const isText = typeof body === "string" || Buffer.isBuffer(body);
      const length = isText ? { "content-length": String(Buffer.byteLength(body)) } : {};
      const sent = request({ agent, hostname, port, method, path, headers: { ...length, ...headers } }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", onBytes ?? ((chunk: Buffer) => chunks.push(chunk)));
        incoming.once("error", reject);
        incoming.once("end", () => {
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) });
        });
      });
      sent.once("error", (error: NodeJS.ErrnoException) => {
        // A connection that was idle for long may be closed in the moment in which it is used again.
        const isReset = error.code === "ECONNRESET" || error.code === "EPIPE";
        const isStale = !isDisposed && sent.reusedSocket && isReset && (body === undefined || isText);
        if (isStale) send(call).then(resolve, reject);
        else reject(error);
      });
      if (body === undefined || isText) sent.end(body);
      else body.once("error", reject).pipe(sent);
    });
  return {
    send,
    [Symbol.dispose]() {
      // A request that is cut now was cut by its own client, and would wait again on a connection that nobody ends.
      isDisposed = true;
      agent.destroy();
    },
  };
}
