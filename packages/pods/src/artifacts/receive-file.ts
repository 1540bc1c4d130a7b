import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Busboy, type BusboyHeaders } from "@fastify/busboy";
import { HttpError } from "../http/http-error.ts";
import type { ArtifactWriter } from "./store/artifact-store.ts";

/** A file of an upload, whole and in its store, where it is not kept yet. */
export interface ReceivedFile {
  /** The first bytes, 64 KiB at most. */
  readonly head: Buffer;
  readonly filename: string;
  readonly size: number;
  readonly sha256: string;
  /** The fields of the form, before or after the file. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The longest time without a byte. */
const IDLE_MS = 60_000;
const HEAD_BYTES = 64 * 1024;
const CUT = "400 Bad Request: the upload was cut";
const LIMITS = { files: 1, fields: 20, fieldSize: 4096, fieldNameSize: 100, parts: 25, headerPairs: 50 };

type Written = Pick<ReceivedFile, "filename" | "size" | "sha256" | "head">;

/**
 * Receives the file of a form, at most so many bytes, and gives them to the writer as they come.
 *
 * @throws {HttpError} 400 for what is no form with a file, 413 for one that is too large; what the writer throws
 */
export async function receiveFile(
  request: IncomingMessage,
  writer: Pick<ArtifactWriter, "write">,
  maxBytes: number,
): Promise<ReceivedFile> {
  // A request that is destroyed emits nothing any more: this would wait for ever.
  if (request.destroyed) throw new HttpError(400, CUT);
  const taking = { isBusy: false };
  // A store that takes its time is not the fault of the one who sends.
  request.setTimeout(IDLE_MS, () => !taking.isBusy && request.destroy());
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
    writing = write(stream, { writer, taking, maxBytes }).then((file) => ({
      ...file,
      filename: filename.slice(0, 255) || "file",
    }));
    // A fault of the file is the answer, whatever the rest of the form does.
    writing.catch(reject);
  });
  form.once("error", () => reject(new HttpError(400, "400 Bad Request: the form is malformed")));
  form.once("finish", () => void Promise.resolve(writing).then(resolve, reject));
  request.once("aborted", () => reject(new HttpError(400, CUT)));
  request.once("error", () => reject(new HttpError(400, CUT)));
  request.pipe(form);
  try {
    const file = await parsed;
    if (file === undefined) throw new HttpError(400, "400 Bad Request: file is missing");
    return { ...file, fields };
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

interface Sink {
  readonly writer: Pick<ArtifactWriter, "write">;
  /** Whether the writer has bytes that it has not taken. */
  readonly taking: { isBusy: boolean };
  readonly maxBytes: number;
}

async function write(stream: Readable, { writer, taking, maxBytes }: Sink): Promise<Omit<Written, "filename">> {
  const hash = createHash("sha256");
  const heads: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = chunk as Buffer;
    if (size < HEAD_BYTES) heads.push(bytes.subarray(0, HEAD_BYTES - size));
    size += bytes.length;
    if (size > maxBytes)
      throw new HttpError(413, `413 Request Entity Too Large: an artifact has at most ${maxBytes} bytes`);
    hash.update(bytes);
    taking.isBusy = true;
    await writer.write(bytes);
    taking.isBusy = false;
  }
  return { size, sha256: hash.digest("hex"), head: Buffer.concat(heads) };
}
