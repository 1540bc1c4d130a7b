import { badRequest, HttpError, tooLarge } from "../http/http-error.ts";
import type { PartCheck, RangeUpload } from "../store/range-upload.ts";
import { createRangeUpload } from "../store/range-upload.ts";
import type { ArtifactParts } from "./artifact-protocol.ts";

/** A part of an item. */
export interface ItemPart {
  readonly start: number;
  readonly end: number;
  /** The size of the whole item as it is sent, in bytes. */
  readonly total: number;
  /** The size of the item when unpacked, in bytes; undefined when it is not packed. */
  readonly expandedBytes: number | undefined;
  readonly body: AsyncIterable<Buffer>;
  readonly check: PartCheck | undefined;
}

/** An item that is being uploaded. */
export interface OpenItem {
  readonly upload: RangeUpload;
  readonly total: number;
  readonly expandedBytes: number | undefined;
}

/** The items of one artifact that are being uploaded, by their paths. */
export class OpenItems {
  readonly #parts: Pick<ArtifactParts, "limits" | "budget" | "work">;
  readonly #items = new Map<string, OpenItem | "busy">();

  constructor(parts: Pick<ArtifactParts, "limits" | "budget" | "work">) {
    this.#parts = parts;
  }

  /** The item that a part belongs to, which begins with it if there is none. `finished`: how many items the artifact has. */
  async at(path: string, part: ItemPart, finished: number): Promise<OpenItem> {
    const { maxArtifactItems, maxOpenUploads } = this.#parts.limits;
    const before = this.#items.get(path);
    if (before === "busy") throw new HttpError(409, "failed_precondition", "The item is being written");
    if (before?.total === part.total && before.expandedBytes === part.expandedBytes) return before;
    if (before !== undefined) await this.#giveUp(path, before, part);
    if (finished + this.#items.size >= maxArtifactItems) throw tooLarge("The artifact has too many items");
    if (this.#items.size >= maxOpenUploads) throw tooLarge("Too many items are under way");
    return await this.#begin(path, part);
  }

  /** Does what ends an item, while nobody else can write to it. */
  async end(path: string, item: OpenItem, work: () => Promise<void>): Promise<void> {
    this.#items.set(path, "busy");
    try {
      await work();
    } finally {
      this.#items.delete(path);
      await item.upload.discard();
    }
  }

  /** Gives up the items that nobody has written to for so long. */
  async dropIdle(idleMs: number): Promise<void> {
    for (const [path, item] of this.#items) {
      if (item === "busy" || item.upload.isBusy() || Date.now() - item.upload.touchedAtMs() < idleMs) continue;
      this.#items.delete(path);
      await item.upload.discard();
    }
  }

  // It begins anew, with another content; what is under way would not fit.
  async #giveUp(path: string, item: OpenItem, { start }: ItemPart): Promise<void> {
    const isRestart = start === 0 && !item.upload.isBusy();
    if (!isRestart) throw badRequest("The parts of the item do not agree about its size");
    this.#items.set(path, "busy");
    await item.upload.discard();
    this.#items.delete(path);
  }

  async #begin(path: string, { total, expandedBytes }: ItemPart): Promise<OpenItem> {
    const { work, budget } = this.#parts;
    this.#items.set(path, "busy");
    try {
      const upload = await createRangeUpload({ dir: await work.makeDir(), maxBytes: total, budget });
      const item = { upload, total, expandedBytes };
      this.#items.set(path, item);
      return item;
    } catch (error) {
      this.#items.delete(path);
      throw error;
    }
  }
}
