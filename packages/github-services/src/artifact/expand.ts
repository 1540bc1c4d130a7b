import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { badRequest } from "../http/http-error.ts";
import { systemCode } from "../error.ts";
import type { Budget } from "../store/budget.ts";
import type { SealedFile } from "../store/upload.ts";

/** Unpacks a file beside itself to exactly the bytes it should have, which stay taken from the budget. */
export async function expand(
  path: string,
  options: { readonly bytes: number; readonly budget: Budget },
): Promise<SealedFile> {
  const target = `${path}.plain`;
  options.budget.take(options.bytes);
  try {
    let size = 0;
    const count = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        size += chunk.length;
        // Stops a bomb at the size that its sender gave, and that the budget allowed.
        if (size > options.bytes) throw badRequest("The packed item is larger than it says");
        yield chunk;
      }
    };
    await pipeline(createReadStream(path), createGunzip(), count, createWriteStream(target, { flags: "wx" }));
    if (size !== options.bytes) throw badRequest("The packed item is smaller than it says");
    return { path: target, size };
  } catch (error) {
    options.budget.giveBack(options.bytes);
    throw isGzipError(error) ? badRequest("The packed item is damaged") : error;
  }
}

function isGzipError(error: unknown): boolean {
  return systemCode(error)?.startsWith("Z_") === true;
}
