import { closeSync, constants, ftruncateSync, readdirSync, readSync, statSync, truncateSync } from "node:fs";
import { basename, join, relative } from "node:path";
import type { RunDirectory } from "@steps/engine/runs";
import { decodeRecord, type IndexRecord, isIntact, type LogStream, RECORD_BYTES } from "./index-record.ts";
import { EMPTY_LOG, FILES_FILE, INDEX_FILE, JobLog, type LogSize, MAX_LIST_BYTES, readFiles } from "./job-log.ts";
import { openRegularFile, readOptionalFile } from "./regular-file.ts";

const BLOCK_BYTES = 2048 * RECORD_BYTES;
/** The size of a record in the engine's index of a step's log: time, offset, length, stream. */
const STEP_RECORD_BYTES = 24;

/**
 * Makes the log of a job whose service was killed whole again: what was cut off at its end is removed, and what the engine
 * stored of a step without a record in our index yet gets one. Nothing that was readable before changes.
 */
export function repairLog(folder: string, run: RunDirectory | undefined): JobLog {
  cutList(join(folder, FILES_FILE));
  const files = readFiles(folder);
  const { size, ends, lastUs } = cutIndex(folder, files);
  const log = new JobLog(folder, size, { isEnded: false });
  let timeUs = lastUs;
  for (const name of run === undefined ? [] : logsOf(run)) {
    const path = join(relative(folder, run?.logs ?? ""), `${name}.log`);
    const file = join(folder, path);
    const known = files.indexOf(path);
    timeUs = Math.max(timeUs, Math.floor(statSync(file).mtimeMs * 1000));
    for (const record of missing(file, ends.get(known) ?? 0)) log.append({ ...record, timeUs, path });
  }
  return log;
}

/** The list of files up to the last line that is one. */
function cutList(path: string): void {
  const text = readOptionalFile(path, MAX_LIST_BYTES) ?? "";
  let end = 0;
  for (let next = text.indexOf("\n"); next !== -1 && isPath(text.slice(end, next)); next = text.indexOf("\n", end)) {
    end = next + 1;
  }
  if (end < text.length) truncateSync(path, Buffer.byteLength(text.slice(0, end)));
}

function isPath(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "string";
  } catch {
    return false;
  }
}

interface Scanned {
  readonly size: LogSize;
  /** The offset up to which each file has records. */
  readonly ends: ReadonlyMap<number, number>;
  readonly lastUs: number;
}

/** Goes through the index and cuts it off behind the last record that is right. */
function cutIndex(folder: string, files: readonly string[]): Scanned {
  const sizes = files.map((file) => statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0);
  const ends = new Map<number, number>();
  let { records, stdoutBytes, stderrBytes } = EMPTY_LOG;
  let lastUs = 0;
  for (const record of recordsOf(join(folder, INDEX_FILE))) {
    const end = record.offset + record.bytes;
    if (record.bytes === 0 || end > (sizes[record.file] ?? 0)) break;
    ends.set(record.file, Math.max(end, ends.get(record.file) ?? 0));
    records += 1;
    if (record.stream === "stdout") stdoutBytes += record.bytes;
    else stderrBytes += record.bytes;
    lastUs = record.timeUs;
  }
  truncateTo(join(folder, INDEX_FILE), records * RECORD_BYTES);
  return { size: { records, stdoutBytes, stderrBytes }, ends, lastUs };
}

function* recordsOf(index: string): Generator<IndexRecord> {
  for (const block of blocksOf(index, BLOCK_BYTES)) {
    for (let at = 0; at + RECORD_BYTES <= block.length; at += RECORD_BYTES) {
      const record = isIntact(block, at) ? decodeRecord(block, at) : undefined;
      if (record === undefined) return;
      yield record;
    }
  }
}

/** The step logs of a run, those that were written to last at the end. */
function logsOf(run: RunDirectory): string[] {
  const times = new Map<string, bigint>();
  for (const file of readNames(run.logs)) {
    if (!file.endsWith(".log")) continue;
    const stat = statSync(join(run.logs, file), { bigint: true, throwIfNoEntry: false });
    if (stat?.isFile() === true) times.set(basename(file, ".log"), stat.mtimeNs);
  }
  return [...times].toSorted(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([name]) => name);
}

/** Yields the pieces that the engine stored of a step behind an offset, by the engine's own index. */
function* missing(file: string, from: number): Generator<{ offset: number; bytes: number; stream: LogStream }> {
  const { size } = statSync(file);
  if (size <= from) return;
  let end = from;
  for (const block of blocksOf(file.replace(/\.log$/, ".idx"), 2048 * STEP_RECORD_BYTES)) {
    for (let at = 0; at + STEP_RECORD_BYTES <= block.length; at += STEP_RECORD_BYTES) {
      const offset = Number(block.readBigUInt64LE(at + 8));
      const bytes = block.readUInt32LE(at + 16);
      if (offset < end) continue;
      if (offset !== end || offset + bytes > size) return;
      yield { offset, bytes, stream: block.readUInt32LE(at + 20) === 0 ? "stdout" : "stderr" };
      end = offset + bytes;
    }
  }
}

function* blocksOf(path: string, blockBytes: number): Generator<Buffer> {
  const fd = openOptional(path, constants.O_RDONLY);
  if (fd === undefined) return;
  try {
    for (let position = 0; ; position += blockBytes) {
      const block = Buffer.alloc(blockBytes);
      const read = readSync(fd, block, 0, blockBytes, position);
      if (read > 0) yield block.subarray(0, read);
      if (read < blockBytes) return;
    }
  } finally {
    closeSync(fd);
  }
}

function truncateTo(path: string, bytes: number): void {
  const fd = openOptional(path, constants.O_RDWR);
  if (fd === undefined) return;
  try {
    ftruncateSync(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

function openOptional(path: string, flags: number): number | undefined {
  try {
    return openRegularFile(path, flags);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}

function readNames(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
