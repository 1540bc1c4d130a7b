import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { stateFailure } from "./directories.ts";
import type { LogStreamDigest, LogSummary } from "@steps/model/event";
import { sha256, StreamHash } from "@steps/platform";
import type { Masker, MaskStream } from "@steps/trace/mask";

type StreamName = "stdout" | "stderr";

/** The place in which bytes of a step were stored. */
interface StoredOutput {
  /** The path of the log, relative to the run's directory. */
  readonly file: string;
  readonly offset: number;
  /** The number of bytes stored: fewer than the chunk has where a limit cut it. */
  readonly bytes: number;
}

/** Takes the masked bytes of a step as they come, once they are stored; a promise holds the step back. */
export type OutputListener = (
  stream: StreamName,
  chunk: Uint8Array,
  stepPath: string,
  stored: StoredOutput,
) => void | Promise<void>;

export interface StepLogOptions {
  readonly masker: Masker;
  readonly onOutput?: OutputListener | undefined;
  /** The number of bytes that all steps of the job may still store; it is counted down. Default: no limit. */
  readonly budget?: { bytes: number };
  /** The number of bytes of a step's output that are stored; the digests cover all of it. Default: 64 MiB. */
  readonly maxStoredBytes?: number;
}

const DEFAULT_STORED_BYTES = 64 * 1024 * 1024;
const MAX_INLINE_BYTES = 16 * 1024;
const INDEX_RECORD_BYTES = 24;
const EMPTY: LogStreamDigest = { sha256: sha256(""), bytes: 0, lines: 0 };

/**
 * The log of one step: masked once, stored once, both streams in order of arrival, with an index of fixed 24-byte
 * records (microseconds since the step's first byte as u64, offset as u64, length as u32, stream as u32, little endian).
 *
 * Nothing is opened for a step that writes nothing. Beyond `maxStoredBytes` bytes are passed on and counted, not stored.
 */
export class StepLogFile {
  readonly #dir: string;
  readonly #path: string;
  readonly #file: string;
  readonly #options: StepLogOptions;
  /** Those that the step has written to. */
  readonly #streams: Partial<Record<StreamName, LogStream>> = {};
  #log = -1;
  #index = -1;
  #start = 0n;
  #stored = 0;
  #dropped = 0;
  #inline: Uint8Array[] | undefined = [];

  constructor(logsDir: string, stepPath: string, options: StepLogOptions) {
    this.#dir = logsDir;
    this.#path = stepPath;
    this.#file = join("logs", `${this.#name()}.log`);
    this.#options = options;
  }

  write(stream: StreamName, chunk: Uint8Array): void | Promise<void> {
    return this.#take(stream, this.#streamOf(stream).mask.push(chunk));
  }

  async close(): Promise<LogSummary | undefined> {
    if (this.#streams.stdout === undefined && this.#streams.stderr === undefined) return undefined;
    const [stdout, stderr] = [this.#streamOf("stdout"), this.#streamOf("stderr")];
    let digests: Readonly<Record<StreamName, LogStreamDigest>>;
    try {
      await this.#take("stdout", stdout.mask.end());
      await this.#take("stderr", stderr.mask.end());
    } finally {
      this.#closeFiles();
      // A digest that nobody asks for would keep its thread.
      digests = { stdout: await stdout.digest(), stderr: await stderr.digest() };
    }
    if (this.#log === -1) return undefined;
    const inline = this.#inline;
    return {
      ...digests,
      file: this.#file,
      indexFile: join("logs", `${this.#name()}.idx`),
      storedBytes: this.#stored,
      droppedBytes: this.#dropped,
      inline: inline === undefined ? undefined : Buffer.concat(inline).toString("base64"),
    };
  }

  #streamOf(stream: StreamName): LogStream {
    return (this.#streams[stream] ??= new LogStream(this.#options.masker));
  }

  #take(stream: StreamName, bytes: Uint8Array): void | Promise<void> {
    if (bytes.length === 0) return undefined;
    const offset = this.#stored;
    let hashed: void | Promise<void>;
    try {
      if (this.#log === -1) this.#open();
      hashed = this.#streamOf(stream).count(bytes);
      this.#store(stream, bytes);
    } catch (error) {
      throw stateFailure(join(this.#dir, `${this.#name()}.log`), error);
    }
    const stored = { file: this.#file, offset, bytes: this.#stored - offset };
    const shown = this.#options.onOutput?.(stream, bytes, this.#path, stored);
    return hashed === undefined ? shown : Promise.all([hashed, shown]).then(() => {});
  }

  #store(stream: StreamName, bytes: Uint8Array): void {
    const { budget, maxStoredBytes = DEFAULT_STORED_BYTES } = this.#options;
    const room = Math.min(maxStoredBytes - this.#stored, budget?.bytes ?? Number.POSITIVE_INFINITY);
    const kept = bytes.length <= room ? bytes : bytes.subarray(0, Math.max(0, room));
    this.#dropped += bytes.length - kept.length;
    if (this.#inline !== undefined) {
      if (this.#stored + bytes.length > MAX_INLINE_BYTES) this.#inline = undefined;
      else this.#inline.push(Uint8Array.from(bytes));
    }
    if (kept.length === 0) return;
    const record = Buffer.alloc(INDEX_RECORD_BYTES);
    record.writeBigUInt64LE((process.hrtime.bigint() - this.#start) / 1000n, 0);
    record.writeBigUInt64LE(BigInt(this.#stored), 8);
    record.writeUInt32LE(kept.length, 16);
    record.writeUInt32LE(stream === "stdout" ? 0 : 1, 20);
    for (let at = 0; at < kept.length;) at += writeSync(this.#log, kept, at);
    writeSync(this.#index, record);
    this.#stored += kept.length;
    if (budget !== undefined) budget.bytes -= kept.length;
  }

  #open(): void {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    this.#log = openSync(join(this.#dir, `${this.#name()}.log`), "wx", 0o600);
    this.#index = openSync(join(this.#dir, `${this.#name()}.idx`), "wx", 0o600);
    this.#start = process.hrtime.bigint();
  }

  #closeFiles(): void {
    for (const file of [this.#log, this.#index]) if (file !== -1) closeSync(file);
  }

  #name(): string {
    return this.#path === "" ? "job" : this.#path.replaceAll("/", ".");
  }
}

/** One stream: its mask, and what is known of its masked bytes. */
class LogStream {
  readonly mask: MaskStream;
  #hash: StreamHash | undefined;
  #bytes = 0;
  #lines = 0;
  #endsLine = true;

  constructor(masker: Masker) {
    this.mask = masker.stream();
  }

  count(bytes: Uint8Array): void | Promise<void> {
    this.#bytes += bytes.length;
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) this.#lines += 1;
    this.#endsLine = bytes.at(-1) === 10;
    this.#hash ??= new StreamHash();
    return this.#hash.update(bytes);
  }

  async digest(): Promise<LogStreamDigest> {
    if (this.#hash === undefined) return EMPTY;
    return { sha256: await this.#hash.digest(), bytes: this.#bytes, lines: this.#lines + (this.#endsLine ? 0 : 1) };
  }
}
