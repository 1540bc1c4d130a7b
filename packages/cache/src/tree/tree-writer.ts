import { createHash } from "node:crypto";
import { closeSync, constants, createReadStream, fchmodSync, openSync, writeFileSync } from "node:fs";
import { chmod, mkdir, open, symlink } from "node:fs/promises";
import { join } from "node:path";
import { gitBlobDigest, gitTreeDigest, type TreeEntry } from "./git-digest.ts";
import { type Limits, throwIfCancelled } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";
import {
  decodeUtf8,
  quote,
  type TreeNode,
  type TreePlan,
  unsafe,
  type UnusualEntries,
  type UnusualEntry,
} from "@steps/transfer/archive";

/** A tree that lies complete in its staging folder. */
export interface WrittenTree {
  /** Git's id of the tree in SHA-256, without empty folders. */
  readonly gitTree: string;
  /** Git's id of the tree in the repository's own hash, as the tree was planned. */
  readonly nativeTree: string | undefined;
  readonly unusual: UnusualEntries;
  readonly bytes: number;
}

/** Writes the files of a plan. Links come last, when there is nothing left to write through them. */
export interface TreeWriter {
  /** @throws {CacheError} ARCHIVE_TOO_LARGE, ARCHIVE_INVALID when there are not exactly `size` bytes */
  writeFile(node: TreeNode, size: number, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Writes a file with the content of one that was written. */
  repeatFile(node: TreeNode, written: TreeNode, size: number): Promise<void>;
  /** Takes the content of a link, its target. */
  setLink(node: TreeNode, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Makes the links, closes the folders, computes the digests. The top folder stays writable, so that it can move. */
  finish(): Promise<WrittenTree>;
}

export interface TreeWriterOptions {
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
  /** The hash that the component's own ids are made with, if it has such. */
  readonly nativeAlgorithm?: "sha1" | "sha256";
}

const MAX_TARGET_BYTES = 4095;
const SMALL_BYTES = 64 * 1024;
// Nothing that exists is opened, not even a link to nowhere.
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/**
 * Opens a writer on a new folder `dir` (mode 0700) and makes the folders of the plan. Without a folder nothing is written:
 * what comes is only checked and digested.
 */
export async function createTreeWriter(
  dir: string | undefined,
  plan: TreePlan,
  options: TreeWriterOptions,
): Promise<TreeWriter> {
  const { limits, signal, nativeAlgorithm } = options;
  let bytes = 0;
  if (dir !== undefined) await makeFolders(dir, plan);

  const count = (node: TreeNode, chunk: Uint8Array, fileBytes: number): void => {
    throwIfCancelled(signal);
    bytes += chunk.byteLength;
    if (fileBytes > limits.maxFileBytes)
      throw tooLarge(`${quote(node.path)} is larger than ${limits.maxFileBytes} bytes`);
    if (bytes > limits.maxTotalBytes)
      throw tooLarge(`its files are larger than ${limits.maxTotalBytes} bytes together`);
  };

  const writer: TreeWriter = {
    async writeFile(node, size, content) {
      const hashes = createHashes(size, nativeAlgorithm);
      const checked = checkContent(node, content, { size, hashes, count });
      if (dir === undefined) for await (const _chunk of checked);
      else await writeTo(join(dir, node.path), node, { size, content: checked });
      const [digest, nativeDigest = digest] = hashes.map((hash) => hash.digest("hex"));
      Object.assign(node, { digest, nativeDigest });
    },
    async repeatFile(node, written, size) {
      if (dir !== undefined) return await writer.writeFile(node, size, createReadStream(join(dir, written.path)));
      bytes += size;
      node.digest = written.digest;
      node.nativeDigest = written.nativeDigest;
    },
    async setLink(node, content) {
      const target = await readTarget(node, content, (chunk, length) => count(node, chunk, length));
      node.target = decodeUtf8(target);
      if (node.target === undefined) throw unsafe(node.path, "is a link to a name that is not UTF-8");
      node.digest = gitBlobDigest(target);
      if (nativeAlgorithm !== undefined) node.nativeDigest = gitBlobDigest(target, nativeAlgorithm);
    },
    async finish() {
      plan.checkLinks();
      const nodes = [...walk(plan.root)];
      if (dir !== undefined) await closeFolders(dir, plan, nodes);
      const gitTree = digestFolder(plan.root, "digest", "sha256") ?? gitTreeDigest([]);
      const nativeTree = nativeAlgorithm && digestFolder(plan.root, "nativeDigest", nativeAlgorithm);
      const unusual = new Map(nodes.flatMap((node) => (node.unusual ? [[node.path, node.unusual] as const] : [])));
      return { gitTree, nativeTree, unusual, bytes };
    },
  };
  return writer;
}

async function makeFolders(dir: string, plan: TreePlan): Promise<void> {
  await mkdir(dir, { mode: 0o700 });
  for (const node of walk(plan.root)) {
    if (node.type === "dir" && node !== plan.root) await mkdir(join(dir, node.path), { mode: 0o700 });
  }
}

async function closeFolders(dir: string, plan: TreePlan, nodes: readonly TreeNode[]): Promise<void> {
  for (const node of nodes) {
    if (node.type === "link") await symlink(node.target as string, join(dir, node.path));
  }
  for (const node of nodes.toReversed()) {
    if (node.type === "dir" && node !== plan.root) await chmod(join(dir, node.path), 0o555);
  }
  await syncFolder(dir);
}

async function* checkContent(
  node: TreeNode,
  content: AsyncIterable<Uint8Array>,
  options: {
    readonly size: number;
    readonly hashes: readonly ReturnType<typeof createHash>[];
    readonly count: (node: TreeNode, chunk: Uint8Array, fileBytes: number) => void;
  },
): AsyncGenerator<Uint8Array> {
  const { size, hashes, count } = options;
  let written = 0;
  for await (const chunk of content) {
    written += chunk.byteLength;
    count(node, chunk, written);
    if (written > size) throw wrongSize(node, size);
    for (const hash of hashes) hash.update(chunk);
    yield chunk;
  }
  if (written !== size) throw wrongSize(node, size);
}

async function writeTo(
  path: string,
  node: TreeNode,
  { size, content }: { readonly size: number; readonly content: AsyncIterable<Uint8Array> },
): Promise<void> {
  const mode = node.isExecutable ? 0o555 : 0o444;
  await (size <= SMALL_BYTES ? writeSmall(path, mode, content) : writeLarge(path, mode, content));
}

/** Most files are small, and four waits for the thread pool would cost more than writing one. */
async function writeSmall(path: string, mode: number, content: AsyncIterable<Uint8Array>): Promise<void> {
  const chunks: Uint8Array[] = [];
  // A chunk is the reader's own memory: it is copied before more is asked for.
  for await (const chunk of content) chunks.push(Buffer.from(chunk));
  const file = openSync(path, CREATE, 0o600);
  try {
    writeFileSync(file, Buffer.concat(chunks));
    fchmodSync(file, mode);
  } finally {
    closeSync(file);
  }
}

async function writeLarge(path: string, mode: number, content: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, CREATE, 0o600);
  try {
    for await (const chunk of content) await file.writeFile(chunk);
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

function* walk(node: TreeNode): Generator<TreeNode> {
  yield node;
  for (const child of node.children.values()) yield* walk(child);
}

function createHashes(size: number, nativeAlgorithm: string | undefined): ReturnType<typeof createHash>[] {
  const algorithms = nativeAlgorithm === "sha1" ? ["sha256", nativeAlgorithm] : ["sha256"];
  return algorithms.map((algorithm) => createHash(algorithm).update(`blob ${size}\0`));
}

async function readTarget(
  node: TreeNode,
  content: AsyncIterable<Uint8Array>,
  count: (chunk: Uint8Array, length: number) => void,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of content) {
    length += chunk.byteLength;
    count(chunk, length);
    if (length > MAX_TARGET_BYTES) throw unsafe(node.path, "is a link to a name that is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** `undefined` for an empty folder, which git's own trees do not have; in the repository's own hash it is kept. */
function digestFolder(
  folder: TreeNode,
  key: "digest" | "nativeDigest",
  algorithm: "sha1" | "sha256",
): string | undefined {
  const entries: TreeEntry[] = [];
  for (const node of folder.children.values()) {
    const unusual = key === "nativeDigest" ? node.unusual : undefined;
    const digest = node.type === "dir" ? (idOf(unusual) ?? digestFolder(node, key, algorithm)) : node[key];
    if (digest !== undefined) entries.push({ name: node.name, mode: unusual?.mode ?? modeOf(node), digest });
    else if (node.type !== "dir")
      throw new CacheError("ARCHIVE_INVALID", `Cannot unpack ${quote(node.path)}: it has no content`);
  }
  return entries.length === 0 && key === "digest" ? undefined : gitTreeDigest(entries, algorithm);
}

function idOf(unusual: UnusualEntry | undefined): string | undefined {
  return unusual?.mode === "160000" ? unusual.id : undefined;
}

function modeOf(node: TreeNode): TreeEntry["mode"] {
  if (node.type === "dir") return "40000";
  if (node.type === "link") return "120000";
  return node.isExecutable ? "100755" : "100644";
}

/** Makes the names in a folder durable, where the system can. */
export async function syncFolder(dir: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(dir, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function tooLarge(problem: string): CacheError {
  return new CacheError("ARCHIVE_TOO_LARGE", `Cannot unpack component: ${problem}`);
}

function wrongSize(node: TreeNode, size: number): CacheError {
  return new CacheError(
    "ARCHIVE_INVALID",
    `Cannot unpack ${quote(node.path)}: it does not have the ${size} bytes it claims`,
  );
}
