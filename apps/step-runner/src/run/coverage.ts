import { type CompiledPattern, PatternError } from "@steps/model/pattern";

type Stream = "stdout" | "stderr";

const LINE_FEED = 10;
const DIGIT_0 = 48;
const DIGIT_9 = 57;
const NOTHING = new Uint8Array(0);
/** The part of a long line that is looked at: its end, where a program that draws over its own line has its last number. */
const MAX_LINE_BYTES = 4096;

/**
 * Looks for the coverage in the output of a job as GitLab does ([coverage](https://docs.gitlab.com/ci/yaml/#coverage)): the number
 * in the last match of the last line that has one, whichever stream it is in.
 */
export class CoverageReader {
  readonly #pattern: CompiledPattern;
  readonly #lines: Readonly<Record<Stream, OpenLine>> = { stdout: new OpenLine(), stderr: new OpenLine() };
  #coverage: number | undefined;

  constructor(pattern: CompiledPattern) {
    this.#pattern = pattern;
  }

  /** Takes a piece of the output. */
  write(stream: Stream, chunk: Uint8Array): void {
    const line = this.#lines[stream];
    let start = 0;
    // Most lines of a log have no number, and are not even looked at.
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (byte === LINE_FEED) {
        if (line.hasNumber) this.#look(line.endedBy(chunk, start, at));
        else line.drop();
        start = at + 1;
      } else if (byte >= DIGIT_0 && byte <= DIGIT_9) line.hasNumber = true;
    }
    line.add(chunk.subarray(start));
  }

  /** The coverage in percent, once all output was written; `undefined` where none was found. */
  end(): number | undefined {
    for (const line of Object.values(this.#lines)) this.#look(line.endedBy(NOTHING, 0, 0));
    return this.#coverage;
  }

  #look(line: Buffer): void {
    const text = line.toString().replace(/\r$/, "");
    const found = /\d+(?:\.\d+)?/.exec(lastMatch(this.#pattern, text))?.[0];
    const coverage = Number(found ?? Number.NaN);
    if (Number.isFinite(coverage)) this.#coverage = coverage;
  }
}

/** The beginning of a line whose rest has not come yet; nothing is copied of a line that comes whole. */
class OpenLine {
  hasNumber = false;
  readonly #kept = Buffer.alloc(2 * MAX_LINE_BYTES);
  #bytes = 0;

  add(piece: Uint8Array): void {
    const end = piece.subarray(-MAX_LINE_BYTES);
    if (this.#bytes + end.length > this.#kept.length) {
      this.#kept.copyWithin(0, this.#bytes - MAX_LINE_BYTES, this.#bytes);
      this.#bytes = MAX_LINE_BYTES;
    }
    this.#kept.set(end, this.#bytes);
    this.#bytes += end.length;
  }

  /** The next line begins. */
  drop(): void {
    this.hasNumber = false;
    this.#bytes = 0;
  }

  /** The part of the line that is looked at, valid until the next call. The next line begins. */
  endedBy({ buffer, byteOffset }: Uint8Array, start: number, end: number): Buffer {
    const from = Math.max(start, end - MAX_LINE_BYTES);
    const piece = Buffer.from(buffer, byteOffset + from, end - from);
    if (this.#bytes > 0) this.add(piece);
    const line =
      this.#bytes === 0 ? piece : this.#kept.subarray(Math.max(0, this.#bytes - MAX_LINE_BYTES), this.#bytes);
    this.drop();
    return line;
  }
}

// A pattern that costs too much for a line finds nothing in it, which is no failure of the job.
function lastMatch(pattern: CompiledPattern, text: string): string {
  try {
    return pattern.lastMatch(text) ?? "";
  } catch (error) {
    if (error instanceof PatternError) return "";
    throw error;
  }
}
