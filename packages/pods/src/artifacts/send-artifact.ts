import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import type { Artifact } from "./find-artifact.ts";
import type { ArtifactStore } from "./store/artifact-store.ts";

/** The longest time in which nobody takes a byte. */
const IDLE_MS = 60_000;
/** The longest time without a byte from the store. */
const STALL_MS = 60_000;

/**
 * Sends the file, or the part of it that `Range` asks for; who asks with `direct_download=true` is sent to the store, if that has
 * a way. A whole file whose bytes are not those that were received is not sent to its end.
 */
export async function sendArtifact(exchange: Exchange, store: ArtifactStore, artifact: Artifact): Promise<void> {
  const { size, object, filename } = artifact;
  const isDirect = exchange.query.get("direct_download") === "true";
  const link = isDirect ? await store.link(object, filename) : undefined;
  if (link !== undefined) return exchange.empty(302, { location: link });
  const range = rangeOf(exchange.headers.range, size);
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const source = size === 0 ? undefined : await store.read(object, range, exchange.left);
  const headers = {
    "content-type": "application/octet-stream",
    "content-length": String(end - start + 1),
    "accept-ranges": "bytes",
    etag: `"${artifact.sha256}"`,
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
  };
  const part = range === undefined ? {} : { "content-range": `bytes ${start}-${end}/${size}` };
  exchange.response.writeHead(range === undefined ? 200 : 206, { ...headers, ...part });
  if (source === undefined) return void exchange.response.end();
  const { socket } = exchange.response;
  exchange.response.setTimeout(IDLE_MS, () => socket?.destroy());
  try {
    await pipeline(checked(source, range === undefined ? artifact : { size: end - start + 1 }), exchange.response);
  } catch (error) {
    // Bytes that were sent cannot be taken back; the client sees that the answer is cut off.
    exchange.response.destroy();
    if (!exchange.left.aborted) throw error;
  } finally {
    source.destroy();
  }
}

/** The bytes of a file. Its last ones are held back until all of them are known to be right. */
async function* checked(
  source: Readable,
  { size, sha256 }: { readonly size: number; readonly sha256?: string },
): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let held: Buffer | undefined;
  let count = 0;
  for (const chunks = source[Symbol.asyncIterator](); ;) {
    const { value, done } = await soon(chunks.next() as Promise<IteratorResult<Uint8Array>>);
    if (done === true) break;
    if (held !== undefined) yield held;
    held = Buffer.from(value);
    count += held.length;
    hash.update(held);
  }
  if (count !== size || (sha256 !== undefined && hash.digest("hex") !== sha256))
    throw new Error("The file of an artifact is damaged, or was cut off");
  if (held !== undefined) yield held;
}

async function soon<T>(next: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("The store of artifacts has stopped in the middle")), STALL_MS);
  try {
    return await Promise.race([next, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** One range of bytes; anything else is answered with all of it, as HTTP allows. */
function rangeOf(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | undefined {
  const { first = "", last = "" } = /^bytes=(?<first>\d{0,15})-(?<last>\d{0,15})$/.exec(header ?? "")?.groups ?? {};
  if (first === "" && last === "") return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (start > end || start >= size)
    throw new HttpError(416, "416 Range Not Satisfiable", { "content-range": `bytes */${size}` });
  return { start, end };
}
