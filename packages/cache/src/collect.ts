import { chmod, lstat, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { livenessOf, parseIdentity } from "@steps/platform";
import type { CollectOptions, GcReport } from "./component.ts";
import type { CacheContext } from "./context.ts";
import { systemCode } from "@steps/transfer";
import { listBlobs, listTrees, namesIn, readIndex } from "./maintenance.ts";
import type { Layout } from "./store/layout.ts";
import { blobPath, treePath } from "./store/layout.ts";
import { leaseState } from "./store/lease.ts";
import { sweepLocks, tryLock } from "./store/lock.ts";
import { discard, moveToTrash, removeTree } from "./store/remove.ts";

/** Something that may go. */
interface Candidate {
  readonly kind: "tree" | "blob" | "store";
  readonly path: string;
  readonly id: string;
  readonly bytes: number;
  readonly lastUsedAt: number;
  readonly isLeased: boolean;
}

/** Files of a process that cannot be seen from here count as abandoned after this long. */
const ABANDONED_MS = 60 * 60 * 1000;

/**
 * Removes what was least recently used, first by age and then until the rest is small enough, and what killed processes
 * left behind. A tree that a running job holds stays.
 */
export async function collect(context: CacheContext, options: CollectOptions): Promise<GcReport> {
  const { layout } = context;
  await sweepLeftovers(layout);
  const candidates = (await findCandidates(layout)).toSorted((a, b) => a.lastUsedAt - b.lastUsedAt);
  const oldest = options.maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : Date.now() - options.maxAgeMs;
  const maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
  let keptBytes = candidates.reduce((sum, { bytes }) => sum + bytes, 0);
  let removed = 0;
  let removedBytes = 0;
  for (const candidate of candidates) {
    const isDue = candidate.lastUsedAt < oldest || keptBytes > maxBytes;
    if (!isDue || candidate.isLeased || !(await remove(layout, candidate))) continue;
    removed += 1;
    removedBytes += candidate.bytes;
    keptBytes -= candidate.bytes;
  }
  if (removed > 0) await sweepIndex(layout);
  return { removed, removedBytes, keptBytes, leased: candidates.filter(({ isLeased }) => isLeased).length };
}

async function findCandidates(layout: Layout): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const id of await listTrees(layout)) {
    const path = treePath(layout, id);
    const { isLeased, lastUsedAt } = await leaseState(layout, id);
    found.push({ kind: "tree", path, id, bytes: await bytesIn(path), lastUsedAt, isLeased });
  }
  for (const id of await listBlobs(layout)) {
    const path = blobPath(layout, id);
    const { size, mtimeMs } = await stat(path);
    found.push({ kind: "blob", path, id, bytes: size, lastUsedAt: mtimeMs, isLeased: false });
  }
  for (const id of await namesIn(layout.stores)) {
    const path = join(layout.stores, id);
    const { mtimeMs } = await stat(path);
    found.push({ kind: "store", path, id, bytes: await bytesIn(path), lastUsedAt: mtimeMs, isLeased: false });
  }
  return found;
}

async function remove(layout: Layout, { kind, path, id }: Candidate): Promise<boolean> {
  // Not under a fetch's feet.
  if (kind === "store") return await tryLock(layout, `git-${id.slice(0, 64)}`, () => discard(layout, path));
  if (kind === "blob") {
    await discard(layout, path);
    return true;
  }
  const moved = await moveToTrash(layout, path);
  if (moved === undefined) return false;
  // Someone may have taken a lease after we looked and before we moved it: then it goes back.
  if ((await leaseState(layout, id)).isLeased && (await putBack(moved, path))) return false;
  await removeTree(moved);
  await rm(join(layout.leases, id), { recursive: true, force: true });
  return true;
}

async function putBack(moved: string, path: string): Promise<boolean> {
  try {
    await rename(moved, path);
    await chmod(path, 0o555);
    return true;
  } catch (error) {
    // The one who took the lease missed the tree and fetched it again: ours is one too many.
    if (systemCode(error) === "EEXIST" || systemCode(error) === "ENOTEMPTY") return false;
    throw error;
  }
}

/** Removes index entries that lead nowhere. */
async function sweepIndex(layout: Layout): Promise<void> {
  const trees = new Set(await listTrees(layout));
  const index = await readIndex(layout);
  const alive = new Set(
    index.filter(({ entry }) => trees.has(entry.gitTree)).map(({ entry }) => `${entry.location}\0${entry.resolved}`),
  );
  for (const { path, entry } of index) {
    if (!alive.has(`${entry.location}\0${entry.resolved}`)) await rm(path, { force: true });
  }
}

/** Empties the trash, and removes temporary files and locks of processes that are gone. */
async function sweepLeftovers(layout: Layout): Promise<void> {
  await sweepLocks(layout);
  for (const name of await readdir(layout.trash)) {
    if (await isAbandoned(join(layout.trash, name), name)) await removeTree(join(layout.trash, name));
  }
  for (const name of await readdir(layout.trees)) {
    if (!/^[0-9a-f]{64}$/.test(name)) await discard(layout, join(layout.trees, name));
  }
  for (const name of await readdir(layout.tmp)) {
    if (await isAbandoned(join(layout.tmp, name), name)) await removeTree(join(layout.tmp, name));
  }
}

async function isAbandoned(path: string, name: string): Promise<boolean> {
  const owner = parseIdentity(name);
  const liveness = owner === undefined ? "unknown" : livenessOf(owner);
  if (liveness !== "unknown") return liveness === "gone";
  const stats = await lstat(path).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_MS;
}

async function bytesIn(path: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // git renames its temporary files while we look.
    const stats = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += stats?.size ?? 0;
  }
  return bytes;
}
