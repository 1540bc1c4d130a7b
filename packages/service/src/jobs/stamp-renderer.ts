import type { LogStream } from "./index-record.ts";

/** Length of what stands before each line: `YYYY-MM-DDTHH:MM:SS.uuuuuuZ 01O `. */
const HEADER_BYTES = 32;
/** The length in bytes at which longer lines are cut. */
const MAX_BODY_BYTES: number = 8 * 1024;
const MAX_ENTRY_BYTES = HEADER_BYTES + MAX_BODY_BYTES + 1;
const OUT_BYTES = 64 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const PLUS = 43;
const ZERO = 48;
const SECOND_US = 1_000_000;
const TAG_AT = 28;
const FLAG_AT = 31;
const SHORT_LINE_BYTES = 48;
const MAX_SCANNED_BYTES = 256;
const EMPTY: Buffer = Buffer.alloc(0);

// Stream numbers as GitLab's runner has them: 00 is the runner, 01 the steps.
const STREAMS: readonly (readonly [LogStream, string])[] = [
  ["stdout", "01O"],
  ["stderr", "01E"],
  ["runner", "00E"],
];

/** A line that has begun. */
interface Line {
  /** The time of the write that the entry began with. */
  readonly timeUs: number;
  readonly bytes: Buffer;
  /** True when the entry continues a line that was given out in part. */
  readonly isContinued: boolean;
}

/** All that a renderer has to know to go on, between two writes. */
export type StampState = readonly Line[];

/** Part of a line at hand, behind what is pending. */
interface Rest {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

const NOTHING: Rest = { bytes: EMPTY, from: 0, to: 0 };

/**
 * Writes a job's log as GitLab's runner reads it: an entry for each line with time, stream and a mark for lines that go
 * on. A pure function of the writes: how they are handed over, and where one begins, changes no byte.
 *
 * Lines of more than 8 KiB are cut. What a write leaves after its last line feed is given out at once if it has a
 * carriage return, as progress bars do; otherwise it waits for the rest of its line.
 */
export class StampRenderer {
  readonly #out = new StampBuffer();
  readonly #pending: readonly PendingLine[];

  constructor(state?: StampState) {
    this.#pending = STREAMS.map(([, tag], index) => new PendingLine(tag, state?.[index]));
  }

  /** How much waits for `take()`. */
  get length(): number {
    return this.#out.length;
  }

  /** Takes the bytes of a write and returns how many were used: fewer if `take()` has to make room first. */
  push(stream: LogStream, timeUs: number, bytes: Buffer): number {
    const line = this.#lineOf(stream);
    let at = 0;
    while (at < bytes.length) {
      if (!this.#out.hasRoom) return at;
      if (line.length === 0) {
        line.timeUs = timeUs;
        const next = this.#out.writeLines(line, bytes, at);
        if (next > at) line.restart(false);
        at = next;
        if (at === bytes.length || !this.#out.hasRoom) continue;
      }
      const room = MAX_BODY_BYTES - line.length;
      const found = bytes.indexOf(LINE_FEED, at);
      if (found !== -1 && found - at <= room) {
        this.#out.write(line, { bytes, from: at, to: found });
        line.restart(false);
        at = found + 1;
      } else if (bytes.length - at > room) {
        line.look(bytes, at, at + room);
        this.#out.write(line, { bytes, from: at, to: at + room });
        line.restart(true);
        at += room;
      } else {
        line.keep(bytes, at);
        at = bytes.length;
      }
    }
    return at;
  }

  /** The write is over. Whether there was room to do so. */
  endWrite(stream: LogStream): boolean {
    const line = this.#lineOf(stream);
    if (line.hasReturn && line.length > 0) {
      if (!this.#out.hasRoom) return false;
      this.#out.write(line, NOTHING);
      line.restart(true);
    }
    line.hasReturn = false;
    return true;
  }

  /** Gives out a line that has no end, when the log has one; false if there is none left or no room. */
  endLine(): boolean {
    const line = this.#pending.find(({ length }) => length > 0);
    if (line === undefined || !this.#out.hasRoom) return false;
    this.#out.write(line, NOTHING);
    line.restart(false);
    return true;
  }

  /** Returns the entries that were written since the last call, each of them whole. */
  take(): Buffer {
    return this.#out.take();
  }

  /** How many bytes wait for the rest of their lines. */
  get pendingBytes(): number {
    return this.#pending.reduce((sum, { length }) => sum + length, 0);
  }

  state(): StampState {
    return this.#pending.map((line) => line.state());
  }

  #lineOf(stream: LogStream): PendingLine {
    return this.#pending[stream === "stdout" ? 0 : stream === "stderr" ? 1 : 2] as PendingLine;
  }
}

class PendingLine {
  readonly tag: string;
  timeUs: number;
  bytes: Buffer = EMPTY;
  length = 0;
  isContinued: boolean;
  /** Whether the write at hand has a carriage return after its last line feed. */
  hasReturn = false;

  constructor(tag: string, known?: Line) {
    this.tag = tag;
    this.timeUs = known?.timeUs ?? 0;
    this.isContinued = known?.isContinued ?? false;
    if (known !== undefined && known.bytes.length > 0) this.keep(known.bytes, 0);
    this.hasReturn = false;
  }

  restart(isContinued: boolean): void {
    this.length = 0;
    this.isContinued = isContinued;
    if (!isContinued) this.hasReturn = false;
  }

  look(bytes: Buffer, from: number, to: number): void {
    if (this.hasReturn) return;
    const found = bytes.indexOf(CARRIAGE_RETURN, from);
    this.hasReturn = found !== -1 && found < to;
  }

  keep(bytes: Buffer, from: number): void {
    this.look(bytes, from, bytes.length);
    if (this.bytes.length === 0) this.bytes = Buffer.allocUnsafeSlow(MAX_BODY_BYTES);
    this.length += bytes.copy(this.bytes, this.length, from);
  }

  state(): Line {
    const { timeUs, isContinued } = this;
    return { timeUs, isContinued, bytes: Buffer.from(this.bytes.subarray(0, this.length)) };
  }
}

/** Entries that were written and not taken yet. */
class StampBuffer {
  length = 0;
  #out: Buffer = EMPTY;
  readonly #header: Buffer = Buffer.alloc(HEADER_BYTES, " ");
  #tag = "";
  #second = -1;
  #timeUs = -1;

  /** Whether there is room for any entry. */
  get hasRoom(): boolean {
    return OUT_BYTES - this.length >= MAX_ENTRY_BYTES;
  }

  write(line: PendingLine, { bytes, from, to }: Rest): void {
    const out = this.#prepare(line);
    let at = this.length;
    at += this.#header.copy(out, at);
    if (line.length > 0) at += line.bytes.copy(out, at, 0, line.length);
    if (from < to) at += bytes.copy(out, at, from, to);
    out[at++] = LINE_FEED;
    this.length = at;
  }

  /** Whole lines, as long as none is too long and there is room; gives where the next one begins. */
  writeLines(line: PendingLine, bytes: Buffer, start: number): number {
    const out = this.#prepare(line);
    let at = start;
    for (let last = 0; this.hasRoom;) {
      out.set(this.#header, this.length);
      const to = this.length + HEADER_BYTES;
      // Calls of native code take longer than a short line does. Lines are mostly like their neighbours.
      last = last > SHORT_LINE_BYTES ? copyLine(bytes, at, { out, to }) : copyShortLine(bytes, at, { out, to });
      if (last === 0) return at;
      at += last;
      this.length = to + last;
      this.#header[FLAG_AT] = SPACE;
    }
    return at;
  }

  /** The buffer, and the header of a line. */
  #prepare({ timeUs, tag, isContinued }: PendingLine): Buffer {
    // Whoever waits for more holds nothing.
    if (this.#out.length === 0) this.#out = Buffer.allocUnsafeSlow(OUT_BYTES);
    this.#setTime(timeUs);
    if (tag !== this.#tag) this.#header.write(tag, TAG_AT, "latin1");
    this.#tag = tag;
    this.#header[FLAG_AT] = isContinued ? PLUS : SPACE;
    return this.#out;
  }

  take(): Buffer {
    const taken = this.#out.subarray(0, this.length);
    this.#out = EMPTY;
    this.length = 0;
    return taken;
  }

  #setTime(timeUs: number): void {
    if (timeUs === this.#timeUs) return;
    this.#timeUs = timeUs;
    const second = Math.floor(timeUs / SECOND_US);
    if (second !== this.#second) {
      this.#second = second;
      this.#header.write(`${new Date(second * 1000).toISOString().slice(0, 19)}.000000Z `, "latin1");
    }
    let rest = timeUs - second * SECOND_US;
    for (let at = 25; at >= 20; at--, rest = Math.floor(rest / 10)) this.#header[at] = ZERO + (rest % 10);
  }
}

interface Target {
  readonly out: Buffer;
  readonly to: number;
}

/** Copies the line that begins at a place; gives its length with the line feed, 0 if it has none or is to be cut. */
function copyLine(bytes: Buffer, at: number, { out, to }: Target): number {
  const end = bytes.indexOf(LINE_FEED, at);
  if (end === -1 || end - at > MAX_BODY_BYTES) return 0;
  return bytes.copy(out, to, at, end + 1);
}

function copyShortLine(bytes: Buffer, at: number, { out, to }: Target): number {
  const length = Math.min(bytes.length - at, MAX_SCANNED_BYTES);
  for (let index = 0; index < length; index++) {
    const byte = bytes[at + index] as number;
    out[to + index] = byte;
    if (byte === LINE_FEED) return index + 1;
  }
  return length === MAX_SCANNED_BYTES ? copyLine(bytes, at, { out, to }) : 0;
}
