import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import type { Artifact } from "./find-artifact.ts";

/** Sends the file, or the part of it that `Range` asks for. */
export async function sendArtifact(exchange: Exchange, folder: string, artifact: Artifact): Promise<void> {
  const { size } = artifact;
  const range = rangeOf(exchange.headers.range, size);
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const file = await openObject(join(folder, artifact.object));
  const headers = {
    "content-type": "application/octet-stream",
    "content-length": String(end - start + 1),
    "accept-ranges": "bytes",
    etag: `"${artifact.sha256}"`,
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(artifact.filename)}`,
  };
  const part = range === undefined ? {} : { "content-range": `bytes ${start}-${end}/${size}` };
  exchange.response.writeHead(range === undefined ? 200 : 206, { ...headers, ...part });
  try {
    if (size === 0) exchange.response.end();
    else await pipeline(file.createReadStream({ start, end, autoClose: false }), exchange.response);
  } catch {
    // The one who asked has gone; what was sent cannot be taken back.
    exchange.response.destroy();
  } finally {
    await file.close();
  }
}

async function openObject(path: string): ReturnType<typeof open> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new HttpError(404, "404 Not found");
    throw error;
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
