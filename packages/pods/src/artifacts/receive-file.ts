import { createHash, randomUUID } from "node:crypto";
import { open, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders } from "@fastify/busboy";
import { HttpError } from "../http/http-error.ts";

/** A file of an upload, whole and on the disk, in the folder for what is not accepted yet. */
export interface ReceivedFile {
  readonly path: string;
  readonly filename: string;
  readonly size: number;
  readonly sha256: string;
  /** The fields of the form, before or after the file. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The longest time without a byte. */
const IDLE_MS = 60_000;
const LIMITS = { files: 1, fields: 20, fieldSize: 4096, fieldNameSize: 100, parts: 25, headerPairs: 50 };

/**
 * Receives the file of a form, at most so many bytes, and leaves nothing behind when it does not arrive whole.
 *
 * @throws {HttpError} 400 for what is no form with a file, 413 for one that is too large
 */
export async function receiveFile(request: IncomingMessage, folder: string, maxBytes: number): Promise<ReceivedFile> {
  const path = join(folder, randomUUID());
  request.setTimeout(IDLE_MS, () => request.destroy());
  try {
    return await receive(request, path, maxBytes);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

type Written = Pick<ReceivedFile, "filename" | "size" | "sha256">;

async function receive(request: IncomingMessage, path: string, maxBytes: number): Promise<ReceivedFile> {
  const form = openForm(request);
  const fields: Record<string, string> = {};
  const { promise: parsed, resolve, reject } = Promise.withResolvers<Written | undefined>();
  let writing: Promise<Written> | undefined;
  let content: Readable | undefined;
  form.on("field", (name, value) => {
    if (!Object.hasOwn(fields, name)) fields[name] = value;
  });
  form.on("file", (name, stream: Readable, filename: string) => {
    if (name !== "file" || writing !== undefined) return void stream.resume();
    content = stream;
    writing = write(stream, path, maxBytes).then((file) => ({ ...file, filename: filename.slice(0, 255) || "file" }));
    // A fault of the file is the answer, whatever the rest of the form does.
    writing.catch(reject);
  });
  form.once("error", () => reject(new HttpError(400, "400 Bad Request: the form is malformed")));
  form.once("finish", () => void Promise.resolve(writing).then(resolve, reject));
  request.once("aborted", () => reject(new HttpError(400, "400 Bad Request: the upload was cut")));
  request.once("error", () => reject(new HttpError(400, "400 Bad Request: the upload was cut")));
  request.pipe(form);
  try {
    const file = await parsed;
    if (file === undefined) throw new HttpError(400, "400 Bad Request: file is missing");
    return { ...file, path, fields };
  } finally {
    request.unpipe(form);
    form.destroy();
    // The parser leaves the stream of a file open whose end never came.
    content?.destroy();
    await writing?.catch(() => {});
  }
}

function openForm(request: IncomingMessage): InstanceType<typeof Busboy> {
  try {
    return new Busboy({ headers: request.headers as BusboyHeaders, limits: LIMITS });
  } catch {
    throw new HttpError(400, "400 Bad Request: multipart/form-data is wanted");
  }
}

async function write(stream: Readable, path: string, maxBytes: number): Promise<Omit<Written, "filename">> {
  await using file = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of stream) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > maxBytes)
      throw new HttpError(413, `413 Request Entity Too Large: an artifact has at most ${maxBytes} bytes`);
    hash.update(bytes);
    await file.writeFile(bytes);
  }
  await file.sync();
  return { size, sha256: hash.digest("hex") };
}
