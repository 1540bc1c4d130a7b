import type { IndexRecord } from "./index-record.ts";
import type { Checkpoint, JobLog } from "./job-log.ts";
import { Pace } from "./pace.ts";
import { RecordCursor } from "./record-cursor.ts";
import { StampRenderer, type StampState } from "./stamp-renderer.ts";

/** A place at which a rendered log can be entered. */
interface Entrance {
  readonly offset: number;
  readonly position: Checkpoint;
  readonly state: StampState;
}

const START: Entrance = { offset: 0, position: { records: 0, stdoutBytes: 0, stderrBytes: 0 }, state: [] };
const ENTRANCE_BYTES = 4 * 1024 * 1024;
/** A place in the middle of long lines costs as much memory as they have bytes: there are fewer of these. */
const MAX_PENDING_BYTES = 512;
const PENDING_ENTRANCE_BYTES = 16 * 1024 * 1024;
const MAX_READ_BYTES = 64 * 1024;

/** The stamped form of a log, rendered whenever somebody reads it. Followers share the places to enter it at. */
export class StampedLog {
  readonly #log: JobLog;
  readonly #entrances: Entrance[] = [START];

  constructor(log: JobLog) {
    this.#log = log;
  }

  /** See `JobHandle.readStamped()`. An abort ends it without an error. */
  async *read(offset: number, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const leave = this.#log.enter();
    signal.addEventListener("abort", leave);
    try {
      const rendering = new Rendering(this.#log, this.#before(offset), (entrance) => this.#learn(entrance));
      const pace = new Pace();
      while (!signal.aborted) {
        const { isEnded } = this.#log;
        const progress = rendering.next(isEnded);
        if (progress === "waiting") {
          await this.#log.news.wait(signal);
          continue;
        }
        if (progress === "ended") return;
        const skipped = Math.max(0, offset - rendering.offset);
        const bytes = rendering.take();
        if (skipped < bytes.length) yield skipped === 0 ? bytes : bytes.subarray(skipped);
        await pace.spend(bytes.length);
      }
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
  }

  #before(offset: number): Entrance {
    return this.#entrances.findLast((entrance) => entrance.offset <= offset) ?? START;
  }

  #learn(entrance: Entrance): void {
    const last = this.#entrances.at(-1) as Entrance;
    if (entrance.offset - last.offset >= ENTRANCE_BYTES) this.#entrances.push(entrance);
  }
}

/** One reader's way through the log. */
class Rendering {
  /** The offset of the bytes that `take()` gives next. */
  offset: number;
  readonly #log: JobLog;
  readonly #records: RecordCursor;
  readonly #renderer: StampRenderer;
  readonly #learn: (entrance: Entrance) => void;
  #learnedAt: number;
  #block: { readonly file: number; readonly offset: number; readonly bytes: Buffer } | undefined;
  /** How much of the record at hand is rendered. */
  #used = 0;

  constructor(log: JobLog, entrance: Entrance, learn: (entrance: Entrance) => void) {
    this.offset = entrance.offset;
    this.#learnedAt = entrance.offset;
    this.#log = log;
    this.#records = new RecordCursor(log, entrance.position);
    this.#renderer = new StampRenderer(entrance.state);
    this.#learn = learn;
  }

  /** Renders until there is a piece to take, or nothing more to render. */
  next(isEnded: boolean): "piece" | "waiting" | "ended" {
    for (let record = this.#records.peek(); record !== undefined; record = this.#records.peek()) {
      if (!this.#render(record)) return "piece";
    }
    this.#block = undefined;
    if (isEnded) while (this.#renderer.endLine());
    if (this.#renderer.length > 0) return "piece";
    return isEnded ? "ended" : "waiting";
  }

  take(): Buffer {
    const bytes = this.#renderer.take();
    this.offset += bytes.length;
    return bytes;
  }

  /** Whether the whole record found room. */
  #render(record: IndexRecord): boolean {
    const { stream, timeUs } = record;
    while (this.#used < record.bytes) {
      const bytes = this.#bytesOf(record);
      const used = this.#renderer.push(stream, timeUs, bytes);
      this.#used += used;
      if (used < bytes.length) return false;
    }
    if (!this.#renderer.endWrite(stream)) return false;
    this.#records.advance(record);
    this.#used = 0;
    this.#keepEntrance();
    return true;
  }

  #keepEntrance(): void {
    const offset = this.offset + this.#renderer.length;
    const distance = offset - this.#learnedAt;
    if (distance < ENTRANCE_BYTES) return;
    if (distance < PENDING_ENTRANCE_BYTES && this.#renderer.pendingBytes > MAX_PENDING_BYTES) return;
    this.#learnedAt = offset;
    this.#learn({ offset, position: this.#records.position, state: this.#renderer.state() });
  }

  /** How much is stored and not rendered. */
  #unread(): number {
    const { size } = this.#log;
    const { position } = this.#records;
    return size.stdoutBytes + size.stderrBytes - position.stdoutBytes - position.stderrBytes - this.#used;
  }

  /** Returns the rest of a record, as far as it was read together with its neighbours. */
  #bytesOf(record: IndexRecord): Buffer {
    const { file } = record;
    const offset = record.offset + this.#used;
    const left = record.bytes - this.#used;
    let block = this.#block;
    if (block?.file !== file || offset < block.offset || offset >= block.offset + block.bytes.length) {
      const atLeast = Math.min(left, MAX_READ_BYTES);
      const atMost = Math.max(atLeast, Math.min(this.#unread(), MAX_READ_BYTES));
      const bytes = this.#log.readAhead(file, offset, { atLeast, atMost });
      block = { file, offset, bytes };
      this.#block = block;
    }
    const start = offset - block.offset;
    return block.bytes.subarray(start, start + left);
  }
}
