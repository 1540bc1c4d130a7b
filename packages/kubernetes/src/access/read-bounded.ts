import { createReadStream } from "node:fs";

/** Reads a file whole, but not more than so many bytes: a larger one is an error. Also reads pipes. */
export async function readBounded(
  path: string,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal | undefined },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(path, signal === undefined ? {} : { signal })) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxBytes) throw new Error(`More than ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks);
}
