import { chmod, mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../error.ts";
import { badRequest, HttpError, tooLarge } from "../http/http-error.ts";
import type { PartCheck, RangeUpload } from "../store/range-upload.ts";
import { createRangeUpload } from "../store/range-upload.ts";
import type { ArtifactParts } from "./artifact-v4.ts";
import { makeFreeFolder } from "./artifact-registry.ts";
import type { SealedFile } from "../store/upload.ts";
import { expand } from "./expand.ts";
import { mergeTree } from "./merge-tree.ts";

const PUBLIC_FILE = 0o644;

/** A part of an item. */
interface ItemPart {
  readonly start: number;
  readonly end: number;
  /** The size of the whole item as it is sent, in bytes. */
  readonly total: number;
  /** The size of the item when unpacked, in bytes; undefined when it is not packed. */
  readonly expandedBytes: number | undefined;
  readonly body: AsyncIterable<Buffer>;
  readonly check: PartCheck | undefined;
}

/** An artifact of the old protocol: its items come one by one and appear together. */
export interface Container {
  readonly id: number;
  readonly name: string;
  readonly createdAtMs: number;
  /** Takes a part of an item; the item is there when all of it is. */
  readonly write: (segments: readonly string[], part: ItemPart) => Promise<void>;
  /** Moves all finished items to the folder of artifacts; can be done again after more have come. */
  readonly publish: () => Promise<void>;
  readonly isPublished: () => boolean;
  readonly publishedDir: () => string | undefined;
  /** Returns the paths below the artifact with their sizes. */
  readonly items: () => readonly (readonly [path: string, bytes: number])[];
  readonly bytes: () => number;
  readonly prune: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface OpenItem {
  readonly upload: RangeUpload;
  readonly total: number;
  readonly expandedBytes: number | undefined;
}

/** An empty artifact. */
export function createContainer(parts: ArtifactParts, of: { readonly id: number; readonly name: string }): Container {
  const { limits, budget, work, registry } = parts;
  const createdAtMs = Date.now();
  const open = new Map<string, OpenItem | "busy">();
  const finished = new Map<string, number>();
  const inTurn = createQueue();
  let tree: string | undefined;
  let dir: string | undefined;

  const openItem = async (path: string, part: ItemPart): Promise<OpenItem> => {
    const before = open.get(path);
    if (before === "busy") throw new HttpError(409, "failed_precondition", "The item is being written");
    if (before?.total === part.total && before.expandedBytes === part.expandedBytes) return before;
    if (before !== undefined) {
      // It begins anew, with another content; what is under way would not fit.
      const isRestart = part.start === 0 && !before.upload.isBusy();
      if (!isRestart) throw badRequest("The parts of the item do not agree about its size");
      open.set(path, "busy");
      await before.upload.discard();
      open.delete(path);
    }
    if (finished.size + open.size >= limits.maxArtifactItems) throw tooLarge("The artifact has too many items");
    if (open.size >= limits.maxOpenUploads) throw tooLarge("Too many items are under way");
    open.set(path, "busy");
    try {
      const upload = await createRangeUpload({ dir: await work.makeDir(), maxBytes: part.total, budget });
      const item = { upload, total: part.total, expandedBytes: part.expandedBytes };
      open.set(path, item);
      return item;
    } catch (error) {
      open.delete(path);
      throw error;
    }
  };
  const keep = async (segments: readonly string[], file: SealedFile): Promise<void> =>
    await inTurn(async () => {
      await chmod(file.path, PUBLIC_FILE);
      tree ??= await work.makeDir();
      await place(file.path, join(tree, ...segments));
      budget.giveBack(finished.get(segments.join("/")) ?? 0);
      finished.set(segments.join("/"), file.size);
    });
  const finish = async (segments: readonly string[], item: OpenItem): Promise<void> => {
    const path = segments.join("/");
    open.set(path, "busy");
    try {
      const sealed = await item.upload.seal(item.total);
      const { expandedBytes } = item;
      const file = expandedBytes === undefined ? sealed : await expand(sealed.path, { bytes: expandedBytes, budget });
      if (expandedBytes === undefined) item.upload.handOver();
      await keep(segments, file).catch((error: unknown) => {
        budget.giveBack(file.size);
        throw error;
      });
    } finally {
      open.delete(path);
      await item.upload.discard();
    }
  };
  const dropIdle = async (idleMs: number): Promise<void> => {
    for (const [path, item] of open) {
      if (item === "busy" || item.upload.isBusy() || Date.now() - item.upload.touchedAtMs() < idleMs) continue;
      open.delete(path);
      await item.upload.discard();
    }
  };
  const bytes = (): number => [...finished.values()].reduce((sum, size) => sum + size, 0);
  return {
    ...of,
    createdAtMs,
    bytes,
    isPublished: () => dir !== undefined,
    publishedDir: () => dir,
    items: () => [...finished],
    prune: async () => await dropIdle(limits.reservationMs),
    close: async () => await dropIdle(0),
    write: async (segments, part) => {
      const item = await openItem(segments.join("/"), part);
      await item.upload.write({ start: part.start, end: part.end }, part.body, part.check);
      if (item.upload.isComplete(item.total) && !item.upload.isBusy()) await finish(segments, item);
    },
    publish: async () =>
      await inTurn(async () => {
        dir ??= await makeFreeFolder(parts.dir, of.name);
        if (tree !== undefined) await mergeTree(tree, dir);
        tree = undefined;
        registry.put({ ...of, protocol: "v3", path: dir, bytes: bytes(), createdAtMs });
      }),
  };
}

/** Runs one function after the other: an item must not be put into a tree that is being moved away. */
function createQueue(): (run: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve();
  return async (run) => {
    const mine = last.then(run);
    last = mine.catch(() => undefined);
    await mine;
  };
}

/** Moves an item to its place; what cannot be there beside the others is the sender's mistake. */
async function place(source: string, target: string): Promise<void> {
  try {
    await mkdir(dirname(target), { recursive: true });
    await rename(source, target);
  } catch (error) {
    const isClash = ["ENOTDIR", "EEXIST", "EISDIR", "ENOTEMPTY"].includes(systemCode(error) ?? "");
    throw isClash ? badRequest("The artifact has a file and a folder of the same name") : error;
  }
}
