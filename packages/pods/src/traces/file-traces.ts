import { writeSync } from "node:fs";
import { open, readdir, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Sql } from "../database/database.ts";
import type { JobState } from "../jobs/job.ts";
import { type OpenFile, OpenFiles } from "./open-files.ts";
import { takeTogether } from "./take-together.ts";
import type { TraceAppend, TraceKey, TraceStore } from "./trace-store.ts";

/**
 * Keeps traces in files, for a pod of one process. Bytes are in the file before the row says that they are there; bytes behind that
 * are what a killed process left, and the next ones take their place.
 */
export function fileTraces(folder: string, sql: Sql): TraceStore {
  const turns = new Map<number, Promise<unknown>>();
  const files = new OpenFiles();
  const take = takeTogether(sql);
  const appendTo = async (file: OpenFile, append: TraceAppend): Promise<JobState | undefined> => {
    // As long as nobody knows whether the bytes count, the next append has to look.
    file.size = undefined;
    await writeAt(file.handle, append.trace_size, append.bytes);
    const state = await take(append);
    if (state !== undefined) file.size = append.trace_size + append.bytes.length;
    return state;
  };
  return {
    append: async (append) =>
      await inTurn(turns, append.id, async () => {
        const path = pathOf(folder, append);
        // Without this look a late call could write over bytes that count already, or make a file for a job that was removed.
        const size = files.sizeOf(path) ?? (await sizeOf(sql, append));
        if (size !== append.trace_size) return undefined;
        return await files.use(path, append.id, async (file) => await appendTo(file, append));
      }),
    read: async (key, offset, length) => await readFrom(pathOf(folder, key), offset, length),
    async remove(_, jobs) {
      const ids = new Set(jobs);
      await files.close(ids);
      await removeFiles(folder, ids);
    },
    close: async () => await files.close(),
  };
}

/** The bytes of a trace that count, if it is the one that the append is for. */
async function sizeOf(sql: Sql, append: TraceAppend): Promise<number | undefined> {
  const [row] = await sql.query<{ trace_size: number }>(
    "SELECT trace_size FROM jobs WHERE id = $1 AND attempt = $2 AND trace_crc = $3 AND trace_resets = $4",
    [append.id, append.attempt, append.trace_crc, append.trace_resets],
  );
  return row?.trace_size;
}

/** Runs one piece of work after the other for each job. */
async function inTurn<T>(turns: Map<number, Promise<unknown>>, id: number, work: () => Promise<T>): Promise<T> {
  const mine = (turns.get(id) ?? Promise.resolve()).then(work, work);
  turns.set(id, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(id) === mine) turns.delete(id);
  }
}

/** A thread that writes a few kilobytes costs ten times as much as the writing, and the database beside it writes in this one, too. */
const MAX_AT_ONCE = 64 * 1024;

async function writeAt(file: FileHandle, offset: number, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const [left, at] = [bytes.length - written, offset + written];
    written +=
      left <= MAX_AT_ONCE
        ? writeSync(file.fd, bytes, written, left, at)
        : (await file.write(bytes, written, left, at)).bytesWritten;
  }
}

async function readFrom(path: string, offset: number, length: number): Promise<Buffer> {
  await using file = await open(path, "r");
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(bytes, read, length - read, offset + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}

// The runner may have been asked several times to send its trace anew, and each time has a file.
async function removeFiles(folder: string, jobs: ReadonlySet<number>): Promise<void> {
  for (const inside of new Set(Array.from(jobs, (id) => folderOf(folder, id)))) {
    const names = await readdir(inside).catch(() => []);
    for (const name of names) if (jobs.has(Number(name.split(".", 1)))) await rm(join(inside, name), { force: true });
  }
}

function pathOf(folder: string, { id, attempt, trace_resets }: TraceKey): string {
  return join(folderOf(folder, id), `${id}.${attempt}.${trace_resets}.log`);
}

// A thousand jobs share a folder.
function folderOf(folder: string, id: number): string {
  return join(folder, String(Math.floor(id / 1000)));
}
