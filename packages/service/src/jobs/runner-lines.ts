import { closeSync, constants, fstatSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { JobLog } from "./job-log.ts";
import { openRegularFile } from "./regular-file.ts";

const FILE = "runner.log";
const MAX_BYTES = 16 * 1024 * 1024;

/** The service's own lines in a job's log: they say what went wrong, between the output of the job's processes. */
export class RunnerLines {
  readonly #path: string;
  readonly #log: JobLog;
  readonly #clock: () => number;
  #isFull = false;

  constructor(folder: string, log: JobLog, clock: () => number) {
    this.#path = join(folder, FILE);
    this.#log = log;
    this.#clock = clock;
  }

  /** Writes a text, which must be masked, with a line feed. The job does not depend on whether the disk takes it. */
  tryWrite(text: string): void {
    if (this.#isFull) return;
    const { O_CREAT, O_WRONLY } = constants;
    let fd = -1;
    try {
      fd = openRegularFile(this.#path, O_WRONLY | O_CREAT);
      const offset = fstatSync(fd).size;
      const bytes = Buffer.from(text.endsWith("\n") ? text : `${text}\n`);
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
