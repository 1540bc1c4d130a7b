import type { OutputPiece } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";
import type { IndexRecord } from "./index-record.ts";
import type { JobLog } from "./job-log.ts";
import { Pace } from "./pace.ts";
import { RecordCursor } from "./record-cursor.ts";
import { RECORD_BYTES } from "./index-record.ts";

type Stream = OutputPiece["stream"];
/** A range of bytes of a file. */
interface Extent {
  readonly file: number;
  readonly offset: number;
  bytes: number;
}

const MAX_PIECE_BYTES = 64 * 1024;
const MAX_EXTENTS = 1024;

/** See `JobHandle.readOutput()`. An abort ends it without an error. */
export async function* readOutput(
  log: JobLog,
  offsets: Readonly<Record<Stream, number>>,
  signal: AbortSignal,
): AsyncGenerator<OutputPiece, void> {
  const leave = log.enter();
  signal.addEventListener("abort", leave);
  try {
    const pieces = new OutputCursor(log, offsets);
    const pace = new Pace();
    while (!signal.aborted) {
      const { isEnded } = log;
      const piece = pieces.next();
      if (piece !== undefined) {
        yield piece;
        await pace.spend(piece.bytes.length);
      } else if (pieces.skipped > 0) {
        await pace.spend(pieces.skipped);
      } else if (isEnded) {
        assertReached(log, offsets);
        return;
      } else await log.news.wait(signal);
    }
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

function assertReached(log: JobLog, offsets: Readonly<Record<Stream, number>>): void {
  const { stdoutBytes, stderrBytes } = log.size;
  for (const [stream, bytes] of [
    ["stdout", stdoutBytes],
    ["stderr", stderrBytes],
  ] as const) {
    if (offsets[stream] <= bytes) continue;
    throw new ServiceError(
      "OFFSET_OUT_OF_RANGE",
      `Cannot read ${stream} from offset ${offsets[stream]}: the job ended after ${bytes} bytes`,
    );
  }
}

/** Makes pieces of records: neighbours of one stream in one piece. */
class OutputCursor {
  /**
   * When the last call of `next()` gave nothing: how many bytes of the index it left behind, 0 at the end of the log.
   */
  skipped = 0;
  readonly #log: JobLog;
  readonly #offsets: Readonly<Record<Stream, number>>;
  readonly #records: RecordCursor;
  /** How much of the next record is in a piece already. */
  #used = 0;

  constructor(log: JobLog, offsets: Readonly<Record<Stream, number>>) {
    this.#log = log;
    this.#offsets = offsets;
    this.#records = new RecordCursor(log, log.checkpointBefore(offsets.stdout, offsets.stderr));
  }

  next(): OutputPiece | undefined {
    this.skipped = 0;
    const first = this.#skip();
    if (first === undefined) return undefined;
    const stream = streamOf(first);
    const offset = this.#startOf(stream) + this.#used;
    const extents: Extent[] = [];
    let room = MAX_PIECE_BYTES;
    for (let record: IndexRecord | undefined = first; record !== undefined && room > 0; record = this.#records.peek()) {
      if (streamOf(record) !== stream || extents.length === MAX_EXTENTS) break;
      const bytes = Math.min(room, record.bytes - this.#used);
      extend(extents, { file: record.file, offset: record.offset + this.#used, bytes });
      room -= bytes;
      this.#used += bytes;
      if (this.#used === record.bytes) this.#advance(record);
    }
    return { stream, bytes: this.#read(extents), offset };
  }

  /** The first record that has something for the caller. */
  #skip(): IndexRecord | undefined {
    const pace = 65_536 * RECORD_BYTES;
    for (let record = this.#records.peek(); record !== undefined; record = this.#records.peek()) {
      const stream = streamOf(record);
      const known = this.#offsets[stream] - this.#startOf(stream);
      if (known < record.bytes) {
        this.#used = Math.max(this.#used, known);
        return record;
      }
      this.#advance(record);
      this.skipped += RECORD_BYTES;
      if (this.skipped >= pace) return undefined;
    }
    this.skipped = 0;
    return undefined;
  }

  #advance(record: IndexRecord): void {
    this.#records.advance(record);
    this.#used = 0;
  }

  #startOf(stream: Stream): number {
    const { stdoutBytes, stderrBytes } = this.#records.position;
    return stream === "stdout" ? stdoutBytes : stderrBytes;
  }

  #read(extents: readonly Extent[]): Buffer {
    const parts = extents.map(({ file, offset, bytes }) => this.#log.read(file, offset, bytes));
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }
}

function streamOf(record: IndexRecord): Stream {
  return record.stream === "stdout" ? "stdout" : "stderr";
}

function extend(extents: Extent[], next: Extent): void {
  const last = extents.at(-1);
  if (last?.file === next.file && last.offset + last.bytes === next.offset) last.bytes += next.bytes;
  else extents.push(next);
}
