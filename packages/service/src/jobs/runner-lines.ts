import { closeSync, constants, fstatSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { JobLog } from "./job-log.ts";
import { openRegularFile } from "./regular-file.ts";

const FILE = "runner.log";
const LINE_FEED = 10;
const MAX_BYTES = 16 * 1024 * 1024;

/** The service's own lines in a job's log: they say what went wrong, between the output of the job's processes. */
export class RunnerLines {
  readonly #path: string;
  readonly #log: JobLog;
  readonly #clock: () => number;
  #isFull = false;
  #isAtLineStart = true;

  constructor(folder: string, log: JobLog, clock: () => number) {
    this.#path = join(folder, FILE);
    this.#log = log;
    this.#clock = clock;
  }

  /** Output of the job came in between. */
  note(chunk: Uint8Array): void {
    if (chunk.length > 0) this.#isAtLineStart = chunk.at(-1) === LINE_FEED;
  }

  /** Writes a text, which must be masked, with a line feed. The job does not depend on whether the disk takes it. */
  tryWrite(text: string): void {
    this.#tryAppend(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** Writes a text that clears its line, in a line of its own, and leaves what comes next at the start of a line. */
  tryMark(text: string): void {
    this.#tryAppend(this.#isAtLineStart ? text : `\n${text}`);
  }

  #tryAppend(text: string): void {
    this.#isAtLineStart = true;
    if (this.#isFull) return;
    const { O_CREAT, O_WRONLY } = constants;
    let fd = -1;
    try {
      fd = openRegularFile(this.#path, O_WRONLY | O_CREAT);
      const offset = fstatSync(fd).size;
      const bytes = Buffer.from(text);
      this.#isFull = offset + bytes.length > MAX_BYTES;
      if (this.#isFull) return;
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, offset + at);
      this.#log.append({ timeUs: this.#clock(), path: FILE, offset, bytes: bytes.length, stream: "runner" });
    } catch {
      // The disk is full; the job's own writes will say so.
    } finally {
      if (fd !== -1) closeSync(fd);
    }
  }
}
