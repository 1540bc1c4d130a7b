import { readFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isStoredKind, type StoredKindName } from "@steps/model/kinds";
import { sha256 } from "@steps/platform";
import type { CommitProof } from "./commit-proof.ts";
import type { Layout } from "./layout.ts";
import { uniquePath } from "./layout.ts";

/**
 * The cache's knowledge of one version at one location. It is a hint and never believed: the tree of a digest or a
 * commit is proved again by whoever uses it. Only for a name that nobody else can be asked about does it have the last
 * word.
 */
export interface IndexEntry {
  readonly format: 2;
  readonly kind: StoredKindName;
  /** URL without credentials, or absolute path. */
  readonly location: string;
  readonly version: string;
  /** Full commit, or SHA-256 of the archive or of the manifest; of a tag of an image the digest that it meant. */
  readonly resolved: string;
  readonly gitTree: string;
  /** The proof that a commit leads to its tree. Absent for other kinds. */
  readonly proof?: CommitProof;
  readonly etag?: string;
  /** The total size of the component's files. */
  readonly bytes: number;
  /** The time of the fetch by the wall clock, in milliseconds since 1970. */
  readonly fetchedAt: number;
}

/** Reads an entry; `undefined` when there is none or it cannot be understood, which is the same as none. */
export function readIndexEntry(
  layout: Layout,
  key: Pick<IndexEntry, "kind" | "location" | "version">,
): IndexEntry | undefined {
  const entry = readIndexFile(indexPath(layout, key));
  return entry?.location === key.location && entry.version === key.version ? entry : undefined;
}

/** Reads an index file by its path. */
export function readIndexFile(path: string): IndexEntry | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isIndexEntry(parsed) ? parsed : undefined;
  } catch {
    // Missing, cut off or damaged: a miss, and the next fetch writes it anew.
    return undefined;
  }
}

/** Writes an entry so that a reader sees all of it or none. */
export async function writeIndexEntry(layout: Layout, entry: IndexEntry): Promise<void> {
  const path = indexPath(layout, entry);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeAtomically(layout, path, JSON.stringify(entry));
}

/** Writes a file at a temporary place, makes it durable and moves it where it belongs. */
async function writeAtomically(layout: Layout, path: string, content: string): Promise<void> {
  const temporary = uniquePath(layout.tmp);
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** Removes an entry that was found to be wrong. */
export async function removeIndexEntry(
  layout: Layout,
  key: Pick<IndexEntry, "kind" | "location" | "version">,
): Promise<void> {
  await rm(indexPath(layout, key), { force: true });
}

/** Returns the path of an entry. */
export function indexPath(layout: Layout, key: Pick<IndexEntry, "kind" | "location" | "version">): string {
  const escaped = encodeURIComponent(key.version).replaceAll(/[*.]/g, (char) => (char === "." ? "." : "%2A"));
  // The digest keeps names apart on file systems that ignore case.
  const name = /^[a-z0-9._-]{1,200}$/.test(escaped) ? escaped : `${escaped.slice(0, 100)}-${sha256(key.version)}`;
  return join(layout.index, key.kind, sha256(key.location), `${name}.json`);
}

function isIndexEntry(value: unknown): value is IndexEntry {
  if (typeof value !== "object" || value === null) return false;
  const entry = value as Partial<Record<keyof IndexEntry, unknown>>;
  return (
    entry.format === 2 &&
    isStoredKind(entry.kind) &&
    typeof entry.location === "string" &&
    typeof entry.version === "string" &&
    typeof entry.resolved === "string" &&
    typeof entry.gitTree === "string" &&
    /^[0-9a-f]{64}$/.test(entry.gitTree) &&
    typeof entry.bytes === "number" &&
    typeof entry.fetchedAt === "number" &&
    (entry.proof === undefined || isProof(entry.proof))
  );
}

function isProof(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { objects, unusual = [] } = value as Partial<Record<keyof CommitProof, unknown>>;
  const arePairs = (list: unknown, isPair: (pair: readonly unknown[]) => boolean): boolean =>
    Array.isArray(list) && list.every((pair) => Array.isArray(pair) && pair.length === 2 && isPair(pair));
  return (
    arePairs(objects, (pair) => pair.every((part) => typeof part === "string")) &&
    arePairs(unusual, ([path, entry]) => typeof path === "string" && isUnusual(entry))
  );
}

function isUnusual(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { mode, id } = value as { readonly mode?: unknown; readonly id?: unknown };
  return (
    mode === "100664" || (mode === "160000" && typeof id === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id))
  );
}
