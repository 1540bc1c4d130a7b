import { join } from "node:path";
import { badRequest, HttpError, tooLarge } from "../http/http-error.ts";
import type { ByteRange } from "../http/ranges.ts";
import { createFile, removeAll, writeBody } from "./files.ts";
import { putInOrder } from "./put-in-order.ts";
import type { Upload, UploadOptions } from "./upload.ts";
import { createWriteGate } from "./upload.ts";

/** Azure's limit. */
const MAX_BLOCKS = 50_000;

/** An upload as Azure's block blobs take it: one body, or named blocks in any order and then the list of their names. */
export interface BlockUpload extends Upload {
  readonly putWhole: (body: AsyncIterable<Buffer>, length: number) => Promise<void>;
  readonly putBlock: (id: string, body: AsyncIterable<Buffer>, length: number) => Promise<void>;
  readonly commit: (ids: readonly string[]) => Promise<void>;
}

/**
 * Begins an upload of blocks. Each body is written once, behind those before it; where the list names the blocks in the
 * order of their arrival, the file is the blob as it stands, otherwise it is put in order when sealed.
 */
export async function createBlockUpload(options: UploadOptions): Promise<BlockUpload> {
  const path = join(options.dir, "blocks");
  const handle = await createFile(path);
  const gate = createWriteGate();
  const blocks = new Map<string, ByteRange>();
  let end = 0;
  let committed: readonly ByteRange[] | undefined;
  const append = async (body: AsyncIterable<Buffer>, length: number): Promise<ByteRange> => {
    const range = { start: end, end: end + length };
    // Parts that were sent again lie there twice; more than that is no retry.
    if (length > options.maxBytes || range.end > 2 * options.maxBytes) {
      throw tooLarge(`The upload is larger than ${options.maxBytes} bytes`);
    }
    options.budget.take(length);
    end = range.end;
    await writeBody(handle, body, { start: range.start, length });
    return range;
  };
  return {
    touchedAtMs: gate.touchedAtMs,
    isBusy: gate.isBusy,
    putWhole: async (body, length) =>
      await gate.run(async () => {
        committed = [await append(body, length)];
        blocks.clear();
      }),
    putBlock: async (id, body, length) =>
      await gate.run(async () => {
        if (blocks.size >= MAX_BLOCKS && !blocks.has(id)) throw tooLarge(`More than ${MAX_BLOCKS} blocks`);
        blocks.set(id, await append(body, length));
      }),
    commit: async (ids) => await gate.run(async () => void (committed = extentsOf(blocks, ids, options.maxBytes))),
    seal: async (size) => {
      if (committed === undefined) throw badRequest("Nothing was uploaded");
      const total = sizeOf(committed);
      if (size !== undefined && size !== total) throw badRequest(`The upload has ${total} bytes, not ${size}`);
      gate.shut();
      const sealed = await putInOrder(handle, committed, { dir: options.dir, path });
      await handle.close();
      options.budget.giveBack(end - total);
      end = total;
      return { path: sealed, size: total };
    },
    handOver: () => {
      end = 0;
    },
    discard: async () => {
      gate.end();
      await handle.close();
      await removeAll(options.dir);
      options.budget.giveBack(end);
      end = 0;
    },
  };
}

function extentsOf(
  blocks: ReadonlyMap<string, ByteRange>,
  ids: readonly string[],
  maxBytes: number,
): readonly ByteRange[] {
  const extents = ids.map((id) => {
    const extent = blocks.get(id);
    if (extent === undefined) throw new HttpError(400, "InvalidBlockList", "The list names a block that is not here");
    return extent;
  });
  // One block may be named many times.
  if (sizeOf(extents) > maxBytes) throw tooLarge(`The upload is larger than ${maxBytes} bytes`);
  return extents;
}

/** Returns the number of bytes of all extents together. */
function sizeOf(extents: readonly ByteRange[]): number {
  return extents.reduce((size, { start, end }) => size + end - start, 0);
}
