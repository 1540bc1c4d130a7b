import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { ByteRange } from "../http/ranges.ts";
import { createFile, removeAll, writeAll } from "./files.ts";

const COPY_BYTES = 1024 ** 2;

/** A range of bytes that has to begin at `to` in the final file. */
interface Move {
  readonly from: ByteRange;
  readonly to: number;
}

/**
 * Makes a file of extents of a file, in their order, and gives its path: the same file, after moving what is not in its
 * place, or a new one in `dir` where that is less work. Clients send blocks side by side but nearly in order, so little
 * moves.
 */
export async function putInOrder(
  handle: FileHandle,
  extents: readonly ByteRange[],
  place: { readonly dir: string; readonly path: string },
): Promise<string> {
  let total = 0;
  const moves = extents.map((from): Move => {
    const to = total;
    total += from.end - from.start;
    return { from, to };
  });
  const astray = moves.filter(({ from, to }) => from.start !== to && from.end > from.start);
  const strayBytes = astray.reduce((sum, { from }) => sum + from.end - from.start, 0);
  if (strayBytes * 2 > total) {
    const path = join(place.dir, "content");
    await withFile(path, async (target) => await copyAll(handle, target, moves));
    return path;
  }
  if (astray.length > 0) await moveAside(handle, astray, join(place.dir, "aside"));
  await handle.truncate(total);
  return place.path;
}

/** Moves ranges by way of another file, because a range is often in the way of another that must move too. */
async function moveAside(handle: FileHandle, astray: readonly Move[], path: string): Promise<void> {
  let end = 0;
  const away: Move[] = [];
  const back: Move[] = [];
  for (const { from, to } of astray) {
    const start = end;
    end += from.end - from.start;
    away.push({ from, to: start });
    back.push({ from: { start, end }, to });
  }
  await withFile(path, async (aside) => {
    await copyAll(handle, aside, away);
    await copyAll(aside, handle, back);
  });
  await removeAll(path);
}

async function withFile(path: string, run: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await createFile(path);
  try {
    await run(handle);
  } finally {
    await handle.close();
  }
}

async function copyAll(source: FileHandle, target: FileHandle, moves: readonly Move[]): Promise<void> {
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  for (const { from, to } of moves) {
    for (let at = from.start; at < from.end;) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(COPY_BYTES, from.end - at), at);
      if (bytesRead === 0) throw new Error("The file of blocks is shorter than what was written to it");
      await writeAll(target, buffer.subarray(0, bytesRead), to + at - from.start);
      at += bytesRead;
    }
  }
}
