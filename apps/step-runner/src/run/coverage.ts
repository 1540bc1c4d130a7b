import type { PatternParts } from "@steps/gitlab-ci/rules";
import { type CompiledPattern, loadPatterns, PatternError } from "@steps/model/pattern";

type Stream = "stdout" | "stderr";

const LINE_FEED = 10;
/** The part of a long line that is looked at: its end, where a program that draws over its own line has its last number. */
const MAX_LINE_BYTES = 4096;

/**
 * Looks for the coverage in the output of a job as GitLab does ([coverage](https://docs.gitlab.com/ci/yaml/#coverage)): the number
 * in the last match of the last line that has one, whichever stream it is in.
 */
export class CoverageReader {
  readonly #pattern: CompiledPattern;
  readonly #rest: Record<Stream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  #coverage: number | undefined;

  constructor(pattern: CompiledPattern) {
    this.#pattern = pattern;
  }

  /** A reader for the pattern of a job; `undefined` for a job without one. @throws {PatternError} for one that RE2 refuses */
  static async of(parts: PatternParts | undefined): Promise<CoverageReader | undefined> {
    if (parts === undefined) return undefined;
    const compile = await loadPatterns();
    return new CoverageReader(compile(parts.body, parts.flags));
  }

  /** Takes a piece of the output. */
  write(stream: Stream, chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#look(this.#append(stream, chunk.subarray(start, end)));
      this.#rest[stream] = Buffer.alloc(0);
      start = end + 1;
    }
    this.#rest[stream] = this.#append(stream, chunk.subarray(start));
  }

  /** The coverage in percent, once all output was written; `undefined` where none was found. */
  end(): number | undefined {
    for (const line of Object.values(this.#rest)) this.#look(line);
    return this.#coverage;
  }

  #append(stream: Stream, piece: Uint8Array): Buffer {
    return Buffer.concat([this.#rest[stream], piece.subarray(-MAX_LINE_BYTES)]).subarray(-MAX_LINE_BYTES);
  }

  #look(line: Buffer): void {
    const text = line.toString().replace(/\r$/, "");
    // Most lines of a log have no number.
    if (!/\d/.test(text)) return;
    const found = /\d+(?:\.\d+)?/.exec(lastMatch(this.#pattern, text))?.[0];
    const coverage = Number(found ?? Number.NaN);
    if (Number.isFinite(coverage)) this.#coverage = coverage;
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
