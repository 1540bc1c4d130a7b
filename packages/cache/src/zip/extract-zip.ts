import { messageOf } from "@steps/model";
import { crc32 } from "node:zlib";
import type { Entry, ZipFile } from "yauzl";
import { type Limits, throwIfCancelled } from "@steps/transfer";
import { CacheError, isCacheError } from "../cache-error.ts";
import { createTreePlan, type EntryClaim, quote, type TreeNode, unsafe } from "@steps/transfer/archive";
import type { WrittenTree } from "../tree/tree-writer.ts";
import { createTreeWriter } from "../tree/tree-writer.ts";

export interface ExtractZipOptions {
  /** The size of the archive file, for the ratio of compression. */
  readonly archiveBytes: number;
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
}

interface ZipMember {
  readonly entry: Entry;
  readonly node: TreeNode;
}

const MADE_BY_UNIX = new Set([3, 19]);
const LOCAL_HEADER_BYTES = 30;
const TYPE_MASK = 0o170000;

/**
 * Unpacks an archive to `dir`; without a folder it is only digested. The central directory decides what is in it; every local header must agree with it, and
 * no two entries may share bytes.
 *
 * @throws {CacheError} ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, UNSAFE_ENTRY
 */
export async function extractZip(
  path: string,
  dir: string | undefined,
  options: ExtractZipOptions,
): Promise<WrittenTree> {
  const { archiveBytes, limits, signal } = options;
  try {
    const yauzl = await import("yauzl");
    const zip = await yauzl.openPromise(path, { autoClose: false, decodeStrings: false, validateEntrySizes: true });
    try {
      const plan = createTreePlan(limits);
      const members = await planEntries(zip, { plan, limits, signal });
      await checkLayout(zip, members);
      // The budget of a bomb: what it unpacks to may be many times its size only while it is small.
      const ratioBytes = Math.max(limits.ratioFloorBytes, archiveBytes * limits.maxRatio);
      const maxTotalBytes = Math.min(limits.maxTotalBytes, ratioBytes);
      const writer = await createTreeWriter(dir, plan, {
        limits: { ...limits, maxTotalBytes },
        signal,
        nativeAlgorithm: "sha256",
      });
      for (const { entry, node } of members) {
        if (node.type === "link") await writer.setLink(node, readEntry(zip, entry, node));
        else if (node.type === "file")
          await writer.writeFile(node, entry.uncompressedSize, readEntry(zip, entry, node));
      }
      return await writer.finish();
    } finally {
      zip.close();
    }
  } catch (error) {
    throwIfCancelled(signal);
    if (isCacheError(error) || (error instanceof Error && "syscall" in error)) throw error;
    throw new CacheError("ARCHIVE_INVALID", `Cannot unpack archive: ${problemOf(error)}`, { cause: error });
  }
}

// The library's sentences end with a period and may say more than one thing.
function problemOf(error: unknown): string {
  const [first = ""] = messageOf(error).split(/\.(?:\s|$)/);
  return first.charAt(0).toLowerCase() + first.slice(1);
}

async function planEntries(
  zip: ZipFile,
  options: { plan: ReturnType<typeof createTreePlan>; limits: Limits; signal: AbortSignal | undefined },
): Promise<ZipMember[]> {
  const { plan, limits, signal } = options;
  if (zip.entryCount > limits.maxEntries) {
    throw new CacheError("ARCHIVE_TOO_LARGE", `Cannot unpack archive: it has more than ${limits.maxEntries} entries`);
  }
  const members: ZipMember[] = [];
  for await (const entry of zip.eachEntry()) {
    throwIfCancelled(signal);
    members.push({ entry, node: plan.add(claimOf(entry, limits)) });
  }
  return members;
}

function claimOf(entry: Entry, limits: Limits): EntryClaim {
  const name = entry.fileName;
  const shown = name.toString("latin1");
  if (entry.isEncrypted()) throw invalid(shown, "is encrypted");
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
    throw invalid(shown, `is packed by method ${entry.compressionMethod}`);
  }
  if (entry.uncompressedSize > limits.maxFileBytes) {
    throw new CacheError(
      "ARCHIVE_TOO_LARGE",
      `Cannot unpack ${quote(shown)}: it is larger than ${limits.maxFileBytes} bytes`,
    );
  }
  const isUnix = MADE_BY_UNIX.has(entry.versionMadeBy >> 8);
  const mode = isUnix ? entry.externalFileAttributes >>> 16 : 0;
  const hasSlash = name.at(-1) === 0x2f;
  const type = typeOf(mode & TYPE_MASK, hasSlash);
  if (type === undefined) throw unsafe(shown, "is a device, pipe or socket");
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
async function checkLayout(zip: ZipFile, members: readonly ZipMember[]): Promise<void> {
  const inOrder = members.toSorted((a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader);
  let free = 0;
  for (const { entry, node } of inOrder) {
    const start = entry.relativeOffsetOfLocalHeader;
    const header = await zip.readLocalFileHeaderPromise(entry);
    if (start < free) throw invalid(node.path, "shares bytes with another entry");
    if (!header.fileName.equals(entry.fileName)) throw invalid(node.path, "has another name in its local header");
    free = Math.max(header.fileDataStart, start + LOCAL_HEADER_BYTES) + entry.compressedSize;
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

function invalid(name: string, problem: string): CacheError {
  return new CacheError("ARCHIVE_INVALID", `Cannot unpack archive: the entry ${quote(name)} ${problem}`);
}
