import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Sql } from "../database/database.ts";
import type { JobState } from "../jobs/job.ts";
import { appendValues, TAKE_BYTES } from "./append-condition.ts";
import type { TraceAppend, TraceKey, TraceStore } from "./trace-store.ts";

/**
 * Keeps traces in files, for a pod of one process. Bytes are in the file before the row says that they are there; bytes behind that
 * are what a killed process left, and the next ones take their place.
 */
export function fileTraces(folder: string, sql: Sql): TraceStore {
  const turns = new Map<number, Promise<unknown>>();
  return {
    append: async (append) => await inTurn(turns, append.id, async () => await appendToFile(folder, sql, append)),
    read: async (key, offset, length) => await readFrom(pathOf(folder, key), offset, length),
    remove: async (_, jobs) => await removeFiles(folder, jobs),
  };
}

async function appendToFile(folder: string, sql: Sql, append: TraceAppend): Promise<JobState | undefined> {
  // Without this look a late call could write over bytes that count already.
  const [row] = await sql.query<{ trace_size: number }>(
    "SELECT trace_size FROM jobs WHERE id = $1 AND attempt = $2 AND trace_crc = $3 AND trace_resets = $4",
    [append.id, append.attempt, append.trace_crc, append.trace_resets],
  );
  if (row?.trace_size !== append.trace_size) return undefined;
  await writeAt(pathOf(folder, append), append.trace_size, append.bytes);
  const [taken] = await sql.query<{ state: JobState }>(`${TAKE_BYTES} RETURNING state`, appendValues(append));
  return taken?.state;
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

async function writeAt(path: string, offset: number, bytes: Buffer): Promise<void> {
  await using file = await openForWriting(path);
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, offset + written);
    written += bytesWritten;
  }
}

async function openForWriting(path: string): ReturnType<typeof open> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  return await open(path, "a", 0o600).then(async (made) => {
    await made.close();
    return await open(path, "r+");
  });
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
async function removeFiles(folder: string, jobs: readonly number[]): Promise<void> {
  const wanted = new Set(jobs);
  for (const inside of new Set(jobs.map((id) => folderOf(folder, id)))) {
    const names = await readdir(inside).catch(() => []);
    for (const name of names) if (wanted.has(Number(name.split(".", 1)))) await rm(join(inside, name), { force: true });
  }
}

function pathOf(folder: string, { id, attempt, trace_resets }: TraceKey): string {
  return join(folderOf(folder, id), `${id}.${attempt}.${trace_resets}.log`);
}

// A thousand jobs share a folder.
function folderOf(folder: string, id: number): string {
  return join(folder, String(Math.floor(id / 1000)));
}
