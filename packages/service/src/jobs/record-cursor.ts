import { ServiceError } from "../service-error.ts";
import { decodeRecord, type IndexRecord, RECORD_BYTES } from "./index-record.ts";
import type { Checkpoint, JobLog } from "./job-log.ts";

const BLOCK_RECORDS = 2048;
const EMPTY: Buffer = Buffer.alloc(0);

/** Goes through the records of a log, and knows where in its streams each begins. */
export class RecordCursor {
  readonly #log: JobLog;
  #position: Checkpoint;
  #block: Buffer = EMPTY;
  #at = 0;
  #record: IndexRecord | undefined;

  constructor(log: JobLog, start: Checkpoint) {
    this.#log = log;
    this.#position = start;
  }

  /** The number of the next record, and where its bytes begin in each stream. */
  get position(): Checkpoint {
    return this.#position;
  }

  /** The next record; `undefined` if there is none yet. */
  peek(): IndexRecord | undefined {
    if (this.#record !== undefined) return this.#record;
    if (this.#at === this.#block.length) {
      this.#block = this.#log.readIndex(this.#position.records, BLOCK_RECORDS);
      this.#at = 0;
      if (this.#block.length === 0) return undefined;
    }
    this.#record = decodeRecord(this.#block, this.#at);
    if (this.#record === undefined) throw new ServiceError("LOG_DAMAGED", "Cannot read the job's log: malformed index");
    return this.#record;
  }

  /** Goes on behind the record that `peek()` gave. */
  advance({ stream, bytes }: IndexRecord): void {
    const { records, stdoutBytes, stderrBytes } = this.#position;
    this.#position = {
      records: records + 1,
      stdoutBytes: stdoutBytes + (stream === "stdout" ? bytes : 0),
      stderrBytes: stderrBytes + (stream === "stdout" ? 0 : bytes),
    };
    this.#log.learn(this.#position);
    this.#at += RECORD_BYTES;
    this.#record = undefined;
    // Whoever waits for more holds nothing.
    if (this.#at === this.#block.length) [this.#block, this.#at] = [EMPTY, 0];
  }
}
