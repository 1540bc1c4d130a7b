import { readSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { isStepsError, messageOf } from "@steps/model";
import type { Entry, ZipFile } from "yauzl";
import { TransferError, throwIfCancelled } from "../error.ts";
import type { Limits } from "../limits.ts";
import {
  createTreePlan,
  type EntryClaim,
  quote,
  type TreeNode,
  type TreePlan,
  type TreeRules,
  unsafe,
} from "./tree-plan.ts";

/** The options of `readZip()`. */
export interface ReadZipOptions {
  readonly limits: Limits;
  /** The names and links that the archive may hold; without it, those of a component. */
  readonly rules?: TreeRules;
  readonly signal?: AbortSignal | undefined;
}

/** One entry of a zip archive, with its place in the plan. */
export interface ZipMember {
  readonly node: TreeNode;
  /** Unpacked. More or fewer bytes than that are an error when it is read. */
  readonly size: number;
  /** The permissions, where the archive was made by a Unix; else 0. */
  readonly mode: number;
  readonly modifiedAt: Date;
  /** May be read once. */
  readonly content: () => AsyncGenerator<Uint8Array>;
}

/** The list of a zip archive's entries, none of which was unpacked. */
export interface ZipContents {
  readonly plan: TreePlan;
  readonly members: readonly ZipMember[];
}

const MADE_BY_UNIX = new Set([3, 19]);
const LOCAL_HEADER = 0x0403_4b50;
const LOCAL_HEADER_BYTES = 30;
const TYPE_MASK = 0o170000;

/**
 * Reads an archive and hands its contents to a function. The central directory decides what is in it; every local header
 * must agree with it, and no two entries may share bytes. The file stays open.
 *
 * @throws {TransferError} ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, UNSAFE_ENTRY, CANCELLED, and what the function throws
 */
export async function readZip<T>(
  file: FileHandle,
  options: ReadZipOptions,
  use: (contents: ZipContents) => Promise<T>,
): Promise<T> {
  const { limits, rules, signal } = options;
  try {
    const yauzl = await import("yauzl");
    const settings = { autoClose: false, decodeStrings: false, validateEntrySizes: true };
    const zip = await yauzl.fromFdPromise(file.fd, settings);
    const plan = createTreePlan(limits, rules);
    const members = await planEntries(zip, { plan, limits, what: rules?.what, signal });
    checkLayout(file, members);
    return await use({ plan, members });
  } catch (error) {
    throwIfCancelled(signal);
    if (isStepsError(error) || (error instanceof Error && "syscall" in error)) throw error;
    throw new TransferError("ARCHIVE_INVALID", `Cannot unpack archive: ${problemOf(error)}`, { cause: error });
  }
}

// The library's sentences end with a period and may say more than one thing.
function problemOf(error: unknown): string {
  const [first = ""] = messageOf(error).split(/\.(?:\s|$)/);
  return first.charAt(0).toLowerCase() + first.slice(1);
}

type PlannedMember = ZipMember & { readonly entry: Entry };

async function planEntries(
  zip: ZipFile,
  options: { plan: TreePlan; limits: Limits; what: string | undefined; signal: AbortSignal | undefined },
): Promise<PlannedMember[]> {
  const { plan, limits, what, signal } = options;
  if (zip.entryCount > limits.maxEntries) {
    throw new TransferError(
      "ARCHIVE_TOO_LARGE",
      `Cannot unpack archive: it has more than ${limits.maxEntries} entries`,
    );
  }
  const members: PlannedMember[] = [];
  for await (const entry of zip.eachEntry()) {
    throwIfCancelled(signal);
    const mode = modeOf(entry);
    const node = plan.add(claimOf(entry, { mode, limits, what }));
    members.push({
      entry,
      node,
      size: entry.uncompressedSize,
      mode: mode & 0o7777,
      modifiedAt: entry.getLastModDate(),
      content: () => readEntry(zip, entry, node),
    });
  }
  return members;
}

function modeOf(entry: Entry): number {
  return MADE_BY_UNIX.has(entry.versionMadeBy >> 8) ? entry.externalFileAttributes >>> 16 : 0;
}

function claimOf(entry: Entry, options: { mode: number; limits: Limits; what: string | undefined }): EntryClaim {
  const { mode, limits, what } = options;
  const name = entry.fileName;
  const shown = name.toString("latin1");
  if (entry.isEncrypted()) throw invalid(shown, "is encrypted");
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
    throw invalid(shown, `is packed by method ${entry.compressionMethod}`);
  }
  if (entry.uncompressedSize > limits.maxFileBytes) {
    throw new TransferError(
      "ARCHIVE_TOO_LARGE",
      `Cannot unpack ${quote(shown)}: it is larger than ${limits.maxFileBytes} bytes`,
    );
  }
  const hasSlash = name.at(-1) === 0x2f;
  const type = typeOf(mode & TYPE_MASK, hasSlash);
  if (type === undefined) throw unsafe(shown, "is a device, pipe or socket", what);
  if ((type === "dir") !== hasSlash) throw invalid(shown, "is a folder by its mode or its name, and not by both");
  if (type === "dir" && entry.uncompressedSize > 0) throw invalid(shown, "is a folder with content");
  return { path: hasSlash ? name.subarray(0, -1) : name, type, isExecutable: (mode & 0o100) !== 0 };
}

function typeOf(bits: number, hasSlash: boolean): EntryClaim["type"] | undefined {
  if (bits === 0) return hasSlash ? "dir" : "file";
  if (bits === 0o040000) return "dir";
  if (bits === 0o100000) return "file";
  return bits === 0o120000 ? "link" : undefined;
}

/** Refuses entries whose bytes overlap, and local headers that name something else. */
function checkLayout(file: FileHandle, members: readonly PlannedMember[]): void {
  const inOrder = members.toSorted((a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader);
  let free = 0;
  for (const { entry, node } of inOrder) {
    const { fileName, relativeOffsetOfLocalHeader: start } = entry;
    const header = Buffer.alloc(LOCAL_HEADER_BYTES + fileName.byteLength);
    // Most archives have many entries, and waiting for the thread pool would take longer than reading a header.
    const bytes = readSync(file.fd, header, 0, header.byteLength, start);
    if (bytes < LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== LOCAL_HEADER)
      throw invalid(node.path, "has no header");
    if (start < free) throw invalid(node.path, "shares bytes with another entry");
    const isSameName = header.readUInt16LE(26) === fileName.byteLength;
    if (!isSameName || !header.subarray(LOCAL_HEADER_BYTES).equals(fileName))
      throw invalid(node.path, "has another name in its local header");
    free = start + header.byteLength + header.readUInt16LE(28) + entry.compressedSize;
  }
}

async function* readEntry(zip: ZipFile, entry: Entry, node: TreeNode): AsyncGenerator<Uint8Array> {
  const stream = await zip.openReadStreamPromise(entry);
  let checksum = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
  if (checksum !== entry.crc32) throw invalid(node.path, "has a wrong checksum");
}

function invalid(name: string, problem: string): TransferError {
  return new TransferError("ARCHIVE_INVALID", `Cannot unpack archive: the entry ${quote(name)} ${problem}`);
}
