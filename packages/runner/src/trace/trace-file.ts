import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { traceCrc } from "@steps/runner-api/trace";

/** The origin of bytes in a trace: a stream of the job, the runner itself, or lines of it with the mark of a section. */
export type TraceStream = "stdout" | "stderr" | "runner" | "mark";

const STREAMS: readonly TraceStream[] = ["stdout", "stderr", "runner", "mark"];
/** A flag of a record: the bytes were taken, and are not in the trace. */
const DROPPED = 0x80;
const RECORD_BYTES = 5;
const READ_BYTES = 1024 * 1024;

/**
 * The trace of a job on the disk. Beside its bytes stands an index with one record for each piece, written after it: what has no
 * record was never there for anybody. So a runner that is killed knows how many bytes of each stream it has taken, and goes
 * on behind them.
 */
export class TraceFile implements Disposable {
  readonly #data: number;
  readonly #index: number;
  readonly #maxBytes: number;
  readonly #taken = { stdout: 0, stderr: 0, runner: 0, mark: 0 };
  #marks = 0;
  #size = 0;
  #crc = 0;
  #isFull = false;
  #listener: (() => void) | undefined;

  /** Opens the trace in a folder, or begins it. @param maxBytes after which nothing more is kept @throws the error of the system */
  constructor(folder: string, maxBytes: number) {
    this.#maxBytes = maxBytes;
    const index = join(folder, "trace.index");
    this.#data = openSync(join(folder, "trace"), "a+", 0o600);
    this.#index = openSync(index, "a+", 0o600);
    this.#replay(readFileSync(index));
  }

  /** The number of bytes. */
  get size(): number {
    return this.#size;
  }

  /** The CRC-32 of all bytes. */
  get crc(): number {
    return this.#crc;
  }

  /** How many bytes of the streams of the job were taken. */
  get offsets(): { readonly stdout: number; readonly stderr: number } {
    const { stdout, stderr } = this.#taken;
    return { stdout, stderr };
  }

  /** True when the runner has written something before. */
  get hasRunnerLines(): boolean {
    return this.#taken.runner > 0 || this.#marks > 0;
  }

  /** How many marks of sections the runner has written before. */
  get marks(): number {
    return this.#marks;
  }

  /** Told after each change. */
  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  /** Takes bytes of a stream. Those beyond the limit are counted, and not kept. @throws the error of the system */
  append(stream: TraceStream, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const room = this.#isFull ? 0 : Math.max(0, this.#maxBytes - this.#size);
    const isKept = stream === "runner" || stream === "mark" || bytes.length <= room;
    if (isKept) this.#write(stream, bytes);
    else this.#cut(stream, bytes, room);
    this.#listener?.();
  }

  /** A part of the bytes, at most 1 MiB. */
  read(offset: number): Buffer {
    const buffer = Buffer.alloc(Math.max(0, Math.min(READ_BYTES, this.#size - offset)));
    let length = 0;
    while (length < buffer.length) {
      const got = readSync(this.#data, buffer, length, buffer.length - length, offset + length);
      if (got === 0) break;
      length += got;
    }
    return buffer.subarray(0, length);
  }

  [Symbol.dispose](): void {
    this.#listener = undefined;
    closeSync(this.#data);
    closeSync(this.#index);
  }

  #cut(stream: TraceStream, bytes: Uint8Array, room: number): void {
    if (room > 0) this.#write(stream, bytes.subarray(0, room));
    if (!this.#isFull) {
      this.#isFull = true;
      const limit = `\n\u001B[33;1mJob's log exceeded limit of ${this.#maxBytes} bytes.\nJob execution will continue but no more output will be collected.\u001B[0;m\n`;
      this.#write("runner", Buffer.from(limit));
    }
    this.#record(STREAMS.indexOf(stream) | DROPPED, bytes.length - room);
  }

  #write(stream: TraceStream, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += writeSync(this.#data, bytes, at);
    this.#record(STREAMS.indexOf(stream), bytes.length);
    this.#size += bytes.length;
    this.#crc = traceCrc(bytes, this.#crc);
  }

  #record(kind: number, length: number): void {
    const record = Buffer.alloc(RECORD_BYTES);
    record.writeUInt8(kind);
    record.writeUInt32BE(length, 1);
    writeSync(this.#index, record);
    this.#count(kind, length);
  }

  #count(kind: number, length: number): void {
    const stream = STREAMS[kind & ~DROPPED];
    if (stream !== undefined) this.#taken[stream] += length;
    if (stream === "mark") this.#marks += 1;
  }

  #replay(index: Buffer): void {
    const whole = index.length - (index.length % RECORD_BYTES);
    if (whole < index.length) ftruncateSync(this.#index, whole);
    for (let at = 0; at < whole; at += RECORD_BYTES) {
      const [kind, length] = [index.readUInt8(at), index.readUInt32BE(at + 1)];
      this.#count(kind, length);
      if ((kind & DROPPED) === 0) this.#size += length;
      else this.#isFull = true;
    }
    // A machine that lost its power may have kept the index and not the bytes.
    this.#size = Math.min(this.#size, fstatSync(this.#data).size);
    ftruncateSync(this.#data, this.#size);
    for (let at = 0; at < this.#size;) {
      const bytes = this.read(at);
      if (bytes.length === 0) break;
      this.#crc = traceCrc(bytes, this.#crc);
      at += bytes.length;
    }
  }
}
