import { join } from "node:path";
import { badRequest, tooLarge } from "../http/http-error.ts";
import type { ByteRange } from "../http/ranges.ts";
import { addRange, isCovered } from "../http/ranges.ts";
import { createFile, removeAll, writeBody } from "./files.ts";
import type { Upload, UploadOptions } from "./upload.ts";
import { createWriteGate } from "./upload.ts";

/** Far more than the chunks of any client, and only holes make ranges at all. */
const MAX_RANGES = 10_000;

/** An upload whose parts say where they belong, in any order, also more than once (`Content-Range`). */
export interface RangeUpload extends Upload {
  readonly write: (range: ByteRange, body: AsyncIterable<Buffer>, check?: PartCheck) => Promise<void>;
  /** Whether the first `size` bytes, and no others, have arrived. */
  readonly isComplete: (size: number) => boolean;
}

/** Sees a part as it passes, and throws at its end when it is not what its sender says; it then does not count. */
export interface PartCheck {
  readonly onChunk: (chunk: Buffer) => void;
  readonly verify: () => void;
}

/** Begins an upload of ranges. */
export async function createRangeUpload(options: UploadOptions): Promise<RangeUpload> {
  const path = join(options.dir, "content");
  const handle = await createFile(path);
  const gate = createWriteGate();
  const ranges: ByteRange[] = [];
  let taken = 0;
  const grow = (end: number): void => {
    if (end > options.maxBytes) throw tooLarge(`The upload is larger than ${options.maxBytes} bytes`);
    if (end <= taken) return;
    options.budget.take(end - taken);
    taken = end;
  };
  return {
    touchedAtMs: gate.touchedAtMs,
    isBusy: gate.isBusy,
    isComplete: (size) => isCovered(ranges, size),
    write: async (range, body, check) =>
      await gate.run(async () => {
        grow(range.end);
        await writeBody(handle, body, { start: range.start, length: range.end - range.start, ...check });
        check?.verify();
        addRange(ranges, range);
        if (ranges.length > MAX_RANGES) throw badRequest("The parts of the upload leave too many holes");
      }),
    seal: async (size) => {
      gate.shut();
      const total = size ?? ranges.at(-1)?.end ?? 0;
      if (!isCovered(ranges, total)) throw badRequest(`The upload is not the ${total} bytes that it should be`);
      await handle.close();
      // A part that was cut off may have been set aside for and never came.
      options.budget.giveBack(taken - total);
      taken = total;
      return { path, size: total };
    },
    handOver: () => {
      taken = 0;
    },
    discard: async () => {
      gate.end();
      await handle.close();
      await removeAll(options.dir);
      options.budget.giveBack(taken);
      taken = 0;
    },
  };
}
