import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";

/** The reading ends of a process's output and what its standard streams are to be. */
export interface OutputPipes {
  /** For `spawn()`. */
  readonly stdio: readonly ["ignore", number | "pipe", number | "pipe"];
  /** Absent when `spawn()` makes them. */
  readonly streams?: { readonly stdout: Readable; readonly stderr: Readable };
  /** By these names `/proc` shows who holds the writing ends; empty when it cannot be told. */
  readonly paths: ReadonlySet<string>;
  /** Closes our copies of the writing ends, so that the process holds the last ones. */
  closeWriters(): void;
  /** Says whether every writer is gone: only then the pipes can serve another process. */
  release(areDrained: boolean): void;
}

type Paths = readonly [stdout: string, stderr: string];

/**
 * Makes the pipes of one process after the other. Node's own are sockets, which a process cannot open again:
 * `echo oops > /dev/stderr` would fail. So these are named pipes in the job's private directory, made once by `mkfifo`
 * and used anew by each process, as long as the one before has let go of them. Without `mkfifo` Node's have to do.
 */
export class OutputPipePool {
  readonly #dir: string;
  #next: Promise<Paths | undefined> | Paths | undefined;
  #hasFifos = true;

  /** @param dir an existing private directory */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Begins to make the first pipes, so that nothing has to wait for them. */
  prepare(): void {
    this.#next ??= this.#make();
  }

  async open(): Promise<OutputPipes> {
    const next = this.#next ?? this.#make();
    this.#next = undefined;
    const paths = await next;
    if (paths === undefined) return nodePipes;
    const opened: number[] = [];
    try {
      const [stdout, stderr] = [openFifo(paths[0], opened), openFifo(paths[1], opened)];
      return {
        stdio: ["ignore", stdout.writer, stderr.writer],
        streams: { stdout: readFrom(stdout.reader), stderr: readFrom(stderr.reader) },
        paths: new Set(paths),
        closeWriters: () => {
          closeSync(stdout.writer);
          closeSync(stderr.writer);
        },
        release: (areDrained) => {
          if (areDrained) this.#next = paths;
          else removeAll(paths);
        },
      };
    } catch (error) {
      // A step removed them, or there are no descriptors left; then the attempt to spawn will say so.
      void error;
      for (const fd of opened) closeSync(fd);
      removeAll(paths);
      return nodePipes;
    }
  }

  /** Removes the files. */
  async close(): Promise<void> {
    const paths = await this.#next;
    this.#next = undefined;
    if (paths) removeAll(paths);
  }

  async #make(): Promise<Paths | undefined> {
    if (!this.#hasFifos) return undefined;
    const name = join(this.#dir, `pipe-${randomBytes(8).toString("hex")}`);
    const paths = [`${name}-stdout`, `${name}-stderr`] as const;
    this.#hasFifos = await makeFifos(paths);
    return this.#hasFifos ? paths : undefined;
  }
}

function makeFifos(paths: Paths): Promise<boolean> {
  return new Promise((resolve) => {
    const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/bin:/bin` };
    const child = spawn("mkfifo", ["-m", "600", ...paths], { env, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}

const nodePipes: OutputPipes = {
  stdio: ["ignore", "pipe", "pipe"],
  paths: new Set(),
  closeWriters() {},
  release() {},
};

function openFifo(path: string, opened: number[]): { readonly reader: number; readonly writer: number } {
  // The reader first and without waiting: then the writer finds it and does not wait either.
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  opened.push(reader);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  opened.push(writer);
  return { reader, writer };
}

function readFrom(fd: number): Readable {
  return new Socket({ fd, readable: true, writable: false });
}

function removeAll(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      unlinkSync(path);
    } catch (error) {
      // It is gone already, or it goes with the job's directory.
      void error;
    }
  }
}
