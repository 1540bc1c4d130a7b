import type { IncomingMessage } from "node:http";

/** The most that is read of a body to find a token: the limit of GitLab's own front for a request for a job. */
const MAX_BODY = 32 * 1024;

/** The most pieces in which a body is kept. */
const MAX_PIECES = 64;

/** Milliseconds that a client has for so few bytes. */
const TIME = 30_000;

/** A whole body, or the status that tells why it was not read: too large, too slow, no JSON. Undefined if the client left. */
export type PeekedBody = { readonly bytes: Buffer; readonly value: unknown } | { readonly status: 400 | 408 | 413 };

/** Reads a small body of JSON. An empty one has no value and is no mistake, since the token may be missing altogether. */
export async function peekBody(request: IncomingMessage): Promise<PeekedBody | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > MAX_BODY) return { status: 413 };
  const bytes = await readAll(request);
  if (!Buffer.isBuffer(bytes)) return bytes;
  if (bytes.length === 0) return { bytes, value: undefined };
  try {
    return { bytes, value: JSON.parse(bytes.toString("utf8")) };
  } catch {
    return { status: 400 };
  }
}

function readAll(request: IncomingMessage): Promise<Buffer | { readonly status: 408 | 413 } | undefined> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => finish({ status: 408 }), TIME);
    const finish = (result: Buffer | { readonly status: 408 | 413 } | undefined): void => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      request.pause();
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      // Chunks of one byte would take a hundred times the memory of their bytes.
      if (chunks.push(chunk) > MAX_PIECES) chunks = [Buffer.concat(chunks)];
      if (size > MAX_BODY) finish({ status: 413 });
    };
    const onEnd = (): void => finish(Buffer.concat(chunks));
    const onClose = (): void => finish(undefined);
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}
