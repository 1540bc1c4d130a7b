import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { Socket } from "node:net";
import { basename, join } from "node:path";
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

/** A pair of named pipes in a folder of their own. */
class Fifos {
  readonly dir: string;
  readonly stdout: string;
  readonly stderr: string;

  constructor(dir: string) {
    this.dir = dir;
    this.stdout = join(dir, "stdout");
    this.stderr = join(dir, "stderr");
  }
}

/** So many pairs are kept for later runs. */
const MAX_KEPT = 8;

/**
 * Makes the pipes of one process after the other. Node's own are sockets, which a process cannot open again:
 * `echo oops > /dev/stderr` would fail. So these are named pipes in the job's private directory, made by `mkfifo` and
 * used anew by each process, as long as the one before has let go of them; between runs they are kept in `keepDir`, since
 * making them takes longer than a step. Without `mkfifo` Node's have to do.
 */
export class OutputPipePool {
  readonly #dir: string;
  readonly #keepDir: string | undefined;
  #next: Promise<Fifos | undefined> | Fifos | undefined;
  #hasFifos = true;

  /** @param dir an existing private directory; `keepDir` too, on the same file system */
  constructor(dir: string, keepDir?: string) {
    this.#dir = dir;
    this.#keepDir = keepDir;
  }

  /** Begins to make the first pipes, so that nothing has to wait for them. */
  prepare(): void {
    this.#next ??= this.#claim() ?? this.#make();
  }

  async open(): Promise<OutputPipes> {
    const next = this.#next ?? this.#make();
    this.#next = undefined;
    const fifos = await next;
    if (fifos === undefined) return nodePipes;
    const opened: number[] = [];
    try {
      const [stdout, stderr] = [openFifo(fifos.stdout, opened), openFifo(fifos.stderr, opened)];
      return {
        stdio: ["ignore", stdout.writer, stderr.writer],
        streams: { stdout: readFrom(stdout.reader), stderr: readFrom(stderr.reader) },
        paths: new Set([fifos.stdout, fifos.stderr]),
        closeWriters: () => {
          closeSync(stdout.writer);
          closeSync(stderr.writer);
        },
        release: (areDrained) => {
          if (areDrained) this.#next = fifos;
          else remove(fifos);
        },
      };
    } catch (error) {
      // A step removed them, or there are no descriptors left; then the attempt to spawn will say so.
      void error;
      for (const fd of opened) closeSync(fd);
      remove(fifos);
      return nodePipes;
    }
  }

  /** Keeps the pipes for a later run, or removes them. */
  async close(): Promise<void> {
    const fifos = await this.#next;
    this.#next = undefined;
    if (fifos && !this.#keep(fifos)) remove(fifos);
  }

  // Renaming is the claim: of two runs that want the same pair one gets it.
  #claim(): Fifos | undefined {
    if (this.#keepDir === undefined) return undefined;
    try {
      for (const name of readdirSync(this.#keepDir)) {
        const fifos = new Fifos(join(this.#dir, name));
        if (isRenamed(join(this.#keepDir, name), fifos.dir)) return fifos;
      }
    } catch (error) {
      // Nothing was kept yet.
      void error;
    }
    return undefined;
  }

  #keep(fifos: Fifos): boolean {
    if (this.#keepDir === undefined) return false;
    try {
      mkdirSync(this.#keepDir, { recursive: true, mode: 0o700 });
      return (
        readdirSync(this.#keepDir).length < MAX_KEPT && isRenamed(fifos.dir, join(this.#keepDir, basename(fifos.dir)))
      );
    } catch (error) {
      // Keeping them only saves time.
      void error;
      return false;
    }
  }

  async #make(): Promise<Fifos | undefined> {
    if (!this.#hasFifos) return undefined;
    const fifos = new Fifos(join(this.#dir, `pipe-${randomBytes(8).toString("hex")}`));
    mkdirSync(fifos.dir, { mode: 0o700 });
    this.#hasFifos = await makeFifos(fifos);
    return this.#hasFifos ? fifos : undefined;
  }
}

function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    // Another run was faster.
    void error;
    return false;
  }
}

function makeFifos({ stdout, stderr }: Fifos): Promise<boolean> {
  return new Promise((resolve) => {
    const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/bin:/bin` };
    const child = spawn("mkfifo", ["-m", "600", stdout, stderr], { env, stdio: "ignore" });
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
  if (!fstatSync(reader).isFIFO()) throw new Error(`Not a pipe: ${path}`);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  opened.push(writer);
  return { reader, writer };
}

function readFrom(fd: number): Readable {
  return new Socket({ fd, readable: true, writable: false });
}

function remove(fifos: Fifos): void {
  try {
    unlinkSync(fifos.stdout);
    unlinkSync(fifos.stderr);
    rmdirSync(fifos.dir);
  } catch (error) {
    // They are gone already, or they go with the job's directory.
    void error;
  }
}
