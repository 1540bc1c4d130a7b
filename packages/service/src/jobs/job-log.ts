import { closeSync, constants, fstatSync, readSync, writeSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { messageOf } from "@steps/model";
import { ServiceError } from "../service-error.ts";
import { encodeRecord, type IndexRecord, type LogStream, RECORD_BYTES } from "./index-record.ts";
import { openRegularFile, readOptionalFile } from "./regular-file.ts";
import { Wakeup } from "./wakeup.ts";

/** How much of a log can be read. */
export interface LogSize {
  readonly records: number;
  readonly stdoutBytes: number;
  /** The size of stderr, including the lines of the service. */
  readonly stderrBytes: number;
}

/** The place in each stream at which a record begins. */
export interface Checkpoint extends LogSize {}

interface Lengths {
  readonly atLeast: number;
  readonly atMost: number;
}

export const INDEX_FILE = "order.idx";
export const FILES_FILE = "files.jsonl";

/** The size of a log that has not begun. */
export const EMPTY_LOG: LogSize = { records: 0, stdoutBytes: 0, stderrBytes: 0 };
/** The greatest size of the list of files. */
export const MAX_LIST_BYTES: number = 256 * 1024 * 1024;
const CHECKPOINT_RECORDS = 4096;
/** The number of files that stay open while somebody reads; a job may have a file for each of very many steps. */
const MAX_OPEN_FILES = 4;
const { O_CREAT, O_RDONLY, O_RDWR } = constants;

/**
 * The log of one job: an index of fixed-size records in order of arrival over files that hold the masked bytes. Bytes are
 * there before their record is, and readers see only records that are complete, so nothing that was read ever changes.
 */
export class JobLog {
  /** Tells of new records and of the end. */
  readonly news: Wakeup = new Wakeup();
  readonly #folder: string;
  #size: LogSize;
  #isEnded: boolean;
  #isRemoved = false;
  #writer: Writer | undefined;
  #checkpoints: Checkpoint[] = [EMPTY_LOG];
  #readers = 0;
  #files: string[] | undefined;
  readonly #numbers = new Map<string, number>();
  readonly #open = new Map<number | "index", number>();

  /** A log of which so much is there; it is complete unless more will come. */
  constructor(folder: string, size: LogSize, options: { readonly isEnded: boolean }) {
    this.#folder = folder;
    this.#size = size;
    this.#isEnded = options.isEnded;
  }

  get size(): LogSize {
    return this.#size;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Adds a record for bytes that are stored in a file of the job's folder. @throws if the disk does not take it */
  append(record: Omit<IndexRecord, "file"> & { readonly path: string }): void {
    if (record.bytes === 0 || this.#isEnded) return;
    this.#writer ??= new Writer(this.#folder);
    this.#writer.append({ ...record, file: this.#fileNumber(record.path) }, this.#size.records);
    this.#count(record.stream, record.bytes);
    this.news.notify();
  }

  /** Marks the end of the log: no more output will come. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#writer?.close();
    this.#writer = undefined;
    this.#numbers.clear();
    if (this.#readers === 0) this.#files = undefined;
    this.news.notify();
  }

  /** The files are gone; who has not read all of them yet is told so. */
  markRemoved(): void {
    this.#isRemoved = true;
    this.#closeFiles();
    this.news.notify();
  }

  /** The last checkpoint that is not behind these offsets. */
  checkpointBefore(stdout: number, stderr: number): Checkpoint {
    let [low, high] = [0, this.#checkpoints.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const { stdoutBytes, stderrBytes } = this.#checkpoints[middle] as Checkpoint;
      if (stdoutBytes <= stdout && stderrBytes <= stderr) low = middle;
      else high = middle - 1;
    }
    return this.#checkpoints[low] as Checkpoint;
  }

  /** Keeps where a record begins, if it is one of those that are kept: a log from the disk is learned as it is read. */
  learn(checkpoint: Checkpoint): void {
    if (checkpoint.records === this.#checkpoints.length * CHECKPOINT_RECORDS) this.#checkpoints.push(checkpoint);
  }

  /** Begins to read; the function given back ends it, once. */
  enter(): () => void {
    this.#readers += 1;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#readers -= 1;
      if (this.#readers > 0) return;
      this.#closeFiles();
      if (this.#isEnded) this.#files = undefined;
    };
  }

  /** Records from a number on, as they are stored; at most `maxRecords`, none if there are no more yet. */
  readIndex(from: number, maxRecords: number): Buffer {
    const count = Math.min(this.#size.records - from, maxRecords);
    if (count <= 0) return Buffer.alloc(0);
    const bytes = count * RECORD_BYTES;
    return this.#read("index", from * RECORD_BYTES, { atLeast: bytes, atMost: bytes });
  }

  /**
   * Reads bytes of a file. @throws {ServiceError} JOB_NOT_FOUND if they were removed, LOG_DAMAGED if they are not there
   */
  read(file: number, offset: number, bytes: number): Buffer {
    return this.#read(file, offset, { atLeast: bytes, atMost: bytes });
  }

  /** The same with as much of what follows in the file as is there. */
  readAhead(file: number, offset: number, lengths: Lengths): Buffer {
    return this.#read(file, offset, lengths);
  }

  #read(file: number | "index", offset: number, { atLeast, atMost }: Lengths): Buffer {
    if (this.#isRemoved) throw new ServiceError("JOB_NOT_FOUND", "Cannot read on: the job was closed or has expired");
    const buffer = Buffer.allocUnsafeSlow(atMost);
    let done = 0;
    try {
      const fd = this.#descriptor(file);
      for (let read = -1; read !== 0 && done < atMost; done += read) {
        read = readSync(fd, buffer, done, atMost - done, offset + done);
      }
    } catch (cause) {
      throw new ServiceError("LOG_DAMAGED", `Cannot read the job's log: ${messageOf(cause)}`, { cause });
    }
    if (done >= atLeast) return buffer.subarray(0, done);
    throw new ServiceError("LOG_DAMAGED", "Cannot read the job's log: a file is shorter than it was");
  }

  #descriptor(file: number | "index"): number {
    const known = this.#open.get(file);
    if (known !== undefined) return known;
    if (this.#open.size >= MAX_OPEN_FILES) {
      // The one that was opened first is the one that most have read to its end. The index is always wanted.
      const oldest = [...this.#open.keys()].find((key) => key !== "index") as number;
      closeSync(this.#open.get(oldest) as number);
      this.#open.delete(oldest);
    }
    const fd = openRegularFile(join(this.#folder, this.#pathOf(file)), O_RDONLY);
    this.#open.set(file, fd);
    return fd;
  }

  #pathOf(file: number | "index"): string {
    if (file === "index") return INDEX_FILE;
    this.#files ??= readFiles(this.#folder);
    const path = this.#files[file];
    if (path === undefined) throw new Error("a file is not in the list");
    return path;
  }

  #fileNumber(path: string): number {
    const files = (this.#files ??= readFiles(this.#folder));
    if (this.#numbers.size === 0) files.forEach((known, number) => this.#numbers.set(known, number));
    const known = this.#numbers.get(path);
    if (known !== undefined) return known;
    (this.#writer as Writer).addFile(path);
    this.#numbers.set(path, files.length);
    return files.push(path) - 1;
  }

  #count(stream: LogStream, bytes: number): void {
    const { records, stdoutBytes, stderrBytes } = this.#size;
    this.#size = {
      records: records + 1,
      stdoutBytes: stdoutBytes + (stream === "stdout" ? bytes : 0),
      stderrBytes: stderrBytes + (stream === "stdout" ? 0 : bytes),
    };
    this.learn(this.#size);
  }

  #closeFiles(): void {
    for (const fd of this.#open.values()) closeSync(fd);
    this.#open.clear();
  }
}

/** The list of a log's files: one JSON string in a line each, paths in the job's folder. What is cut off is left out. */
export function readFiles(folder: string): string[] {
  const text = readOptionalFile(join(folder, FILES_FILE), MAX_LIST_BYTES) ?? "";
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => {
    const path: unknown = JSON.parse(line);
    if (typeof path !== "string" || isAbsolute(path) || path.split("/").includes("..")) throw new Error("no path");
    return path;
  });
}

/** Appends to the index and to the list of files. After a failure it takes nothing more. */
class Writer {
  readonly #index: number;
  readonly #files: number;
  #failure: { readonly error: unknown } | undefined;
  #filesBytes: number;

  constructor(folder: string) {
    this.#index = openRegularFile(join(folder, INDEX_FILE), O_RDWR | O_CREAT);
    this.#files = openRegularFile(join(folder, FILES_FILE), O_RDWR | O_CREAT);
    this.#filesBytes = fstatSync(this.#files).size;
  }

  append(record: IndexRecord, number: number): void {
    this.#write(this.#index, encodeRecord(record), number * RECORD_BYTES);
  }

  addFile(path: string): void {
    const line = Buffer.from(`${JSON.stringify(path)}\n`);
    this.#write(this.#files, line, this.#filesBytes);
    this.#filesBytes += line.length;
  }

  close(): void {
    closeSync(this.#index);
    closeSync(this.#files);
  }

  // At a place of its own, so that what a full disk cut off is never the beginning of the next one.
  #write(fd: number, bytes: Buffer, position: number): void {
    if (this.#failure) throw this.#failure.error;
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, position + at);
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
