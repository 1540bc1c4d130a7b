import { chmod, mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../error.ts";
import { badRequest } from "../http/http-error.ts";
import type { ArtifactParts } from "./artifact-protocol.ts";
import { makeFreeFolder } from "./artifact-registry.ts";
import type { SealedFile } from "../store/upload.ts";
import { expand } from "./expand.ts";
import { mergeTree } from "./merge-tree.ts";
import { type ItemPart, type OpenItem, OpenItems } from "./open-items.ts";

const PUBLIC_FILE = 0o644;

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

/** An empty artifact. */
export function createContainer(parts: ArtifactParts, of: { readonly id: number; readonly name: string }): Container {
  const { limits, budget, work, registry } = parts;
  const createdAtMs = Date.now();
  const open = new OpenItems(parts);
  const finished = new Map<string, number>();
  const inTurn = createQueue();
  let tree: string | undefined;
  let dir: string | undefined;

  const keep = async (segments: readonly string[], file: SealedFile): Promise<void> =>
    await inTurn(async () => {
      await chmod(file.path, PUBLIC_FILE);
      tree ??= await work.makeDir();
      await place(file.path, join(tree, ...segments));
      budget.giveBack(finished.get(segments.join("/")) ?? 0);
      finished.set(segments.join("/"), file.size);
    });
  const finish = async (segments: readonly string[], { upload, total, expandedBytes }: OpenItem): Promise<void> => {
    const sealed = await upload.seal(total);
    const file = expandedBytes === undefined ? sealed : await expand(sealed.path, { bytes: expandedBytes, budget });
    if (expandedBytes === undefined) upload.handOver();
    await keep(segments, file).catch((error: unknown) => {
      budget.giveBack(file.size);
      throw error;
    });
  };
  const bytes = (): number => [...finished.values()].reduce((sum, size) => sum + size, 0);
  return {
    ...of,
    createdAtMs,
    bytes,
    isPublished: () => dir !== undefined,
    publishedDir: () => dir,
    items: () => [...finished],
    prune: async () => await open.dropIdle(limits.reservationMs),
    close: async () => await open.dropIdle(0),
    write: async (segments, part) => {
      const path = segments.join("/");
      const item = await open.at(path, part, finished.size);
      await item.upload.write({ start: part.start, end: part.end }, part.body, part.check);
      if (!item.upload.isComplete(item.total) || item.upload.isBusy()) return;
      await open.end(path, item, () => finish(segments, item));
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
