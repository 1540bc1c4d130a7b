import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { isStepsError, messageOf } from "@steps/model";
import type { ReadEntry } from "tar";
import { TransferError, throwIfCancelled } from "../error.ts";

/** One entry of a tar archive. */
export interface TarEntry {
  /** As written, without leading `./` and trailing `/`; empty for the root itself. */
  readonly path: string;
  readonly type: "file" | "dir" | "link" | "hardlink";
  readonly isExecutable: boolean;
  readonly size: number;
  /** The target of a link. */
  readonly target: string;
  /** May be left unread. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** The options of `readTar()`. */
export interface ReadTarOptions {
  /** Unpacked, with headers and padding. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** The name of the archive in messages. */
  readonly what: string;
}

const TYPES: Readonly<Record<string, TarEntry["type"]>> = {
  File: "file",
  OldFile: "file",
  ContiguousFile: "file",
  Directory: "dir",
  GNUDumpDir: "dir",
  SymbolicLink: "link",
  Link: "hardlink",
};

type Event = { readonly entry: ReadEntry } | { readonly chunk: Uint8Array } | { readonly isEnd: true };

/**
 * Reads a tar archive, packed by gzip or zstd or not at all, as its first bytes say. Each entry's content must be read
 * before the next entry is asked for.
 *
 * @throws {TransferError} ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, UNSAFE_ENTRY, CANCELLED
 */
export async function* readTar(path: string, options: ReadTarOptions): AsyncGenerator<TarEntry> {
  const events = readEvents(unpacked(path, options), options);
  try {
    for (let event = await events.next(); event.done !== true; event = await events.next()) {
      if (!("entry" in event.value)) continue;
      yield { ...describe(event.value.entry, options), content: contentOf(events) };
    }
  } catch (error) {
    throwIfCancelled(options.signal);
    if (isStepsError(error) || (error instanceof Error && "syscall" in error)) throw error;
    throw new TransferError("ARCHIVE_INVALID", `Cannot unpack ${options.what}: ${problemOf(error)}`, { cause: error });
  } finally {
    await events.return(undefined);
  }
}

async function* contentOf(events: AsyncGenerator<Event>): AsyncGenerator<Uint8Array> {
  for (let event = await events.next(); event.done !== true; event = await events.next()) {
    if (!("chunk" in event.value)) return;
    yield event.value.chunk;
  }
}

// The parser says everything that is in a chunk before `write()` returns, since nothing holds its entries up. So what
// waits here is never more than one chunk.
async function* readEvents(source: AsyncIterable<Uint8Array>, options: ReadTarOptions): AsyncGenerator<Event> {
  const { Parser } = await import("tar");
  const pending: Event[] = [];
  let failure: unknown;
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      pending.push({ entry });
      entry.on("data", (chunk) => pending.push({ chunk }));
      entry.on("end", () => pending.push({ isEnd: true }));
    },
  });
  parser.on("error", (error) => (failure ??= error));
  parser.on("ignoredEntry", (entry: ReadEntry) => (failure ??= unsafeType(entry.path, options)));
  let isFirst = true;
  for await (const chunk of source) {
    throwIfCancelled(options.signal);
    // The parser would unpack it once more, past every limit.
    if (isFirst && packingOf(chunk) !== undefined) throw invalid(options, "it is packed twice");
    isFirst = false;
    parser.write(Buffer.from(chunk));
    yield* pending.splice(0);
    if (failure !== undefined) throw failure;
  }
  parser.end();
  yield* pending.splice(0);
  if (failure !== undefined) throw failure;
}

function describe(entry: ReadEntry, options: ReadTarOptions): Omit<TarEntry, "content"> {
  const type = TYPES[entry.type];
  if (type === undefined) throw unsafeType(entry.path, options);
  return {
    path: entry.path
      .replace(/^(?:\.\/+)+/, "")
      .replace(/\/+$/, "")
      .replace(/^\.$/, ""),
    type,
    isExecutable: ((entry.mode ?? 0) & 0o100) !== 0,
    size: entry.size,
    target: entry.linkpath ?? "",
  };
}

/** Unpacks while counting what comes out. */
async function* unpacked(path: string, options: ReadTarOptions): AsyncGenerator<Uint8Array> {
  const packing = await packingOfFile(path);
  const file = createReadStream(path, { highWaterMark: 64 * 1024 });
  const unpacker: Transform | undefined =
    packing === "gzip" ? createGunzip() : packing === "zstd" ? createZstdDecompress() : undefined;
  const isDone = unpacker === undefined ? undefined : pipeline(file, unpacker);
  // Whoever reads the unpacker sees the same failure.
  isDone?.catch(() => undefined);
  const stream = unpacker ?? file;
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > options.maxBytes) {
        throw new TransferError(
          "ARCHIVE_TOO_LARGE",
          `Cannot unpack ${options.what}: it unpacks to more than ${options.maxBytes} bytes`,
        );
      }
      yield chunk;
    }
  } finally {
    stream.destroy();
    file.destroy();
  }
}

async function packingOfFile(path: string): Promise<"gzip" | "zstd" | undefined> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return packingOf(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

function packingOf(head: Uint8Array): "gzip" | "zstd" | undefined {
  if (head[0] === 0x1f && head[1] === 0x8b) return "gzip";
  return head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd ? "zstd" : undefined;
}

// The library's sentences begin with a code.
function problemOf(error: unknown): string {
  const text = messageOf(error).replace(/^TAR_[A-Z_]+:\s*/, "");
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function unsafeType(path: string, { what }: ReadTarOptions): TransferError {
  const shown = JSON.stringify(path.slice(0, 120));
  return new TransferError("UNSAFE_ENTRY", `Cannot unpack ${what}: the entry ${shown} is a device, pipe or socket`);
}

function invalid({ what }: ReadTarOptions, problem: string): TransferError {
  return new TransferError("ARCHIVE_INVALID", `Cannot unpack ${what}: ${problem}`);
}
