import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { makePipe, type Pipe } from "@steps/platform/runtime";
import { areUnread, type Fifos, makeFifos, type PipeMaker, removeFifos } from "./fifos.ts";
import type { OutputStreams } from "./output-pump.ts";
import { closePipes, openPipes, type OpenPipes } from "./open-pipes.ts";
import { PipeReader } from "./pipe-reader.ts";
import type { PipeReserve } from "./pipe-reserve.ts";

/** The reading ends of a process's output and what its standard streams are to be. */
export interface OutputPipes {
  /** The `stdio` option for `spawn()`. */
  readonly stdio: readonly ["ignore", number | "pipe", number | "pipe"];
  /** The reading ends. Absent when `spawn()` makes them. */
  readonly streams?: OutputStreams;
  /** The names by which `/proc` shows who holds the writing ends. Empty when that cannot be told. */
  readonly paths: ReadonlySet<string>;
  /** Closes our copies of the writing ends, so that the process holds the last ones. */
  closeWriters(): void;
  /** Says whether every writer is gone: only then the pipes can serve another process. */
  release(areDrained: boolean): void;
}

/**
 * Makes the pipes of one process after the other: where the engine can, by the system's own call. Node cannot, and its own are
 * sockets, which a process cannot open again: `echo oops > /dev/stderr` would fail. So there these are named pipes in the job's
 * private directory, made by `mkfifo`, which takes longer than a short step: each process gets those of the one before, as long as
 * nobody holds them any more. Without `mkfifo` Node's have to do.
 */
export class OutputPipePool {
  readonly #dir: string;
  readonly #reserve: PipeReserve | undefined;
  readonly #maker: PipeMaker | undefined;
  readonly #makePipe: typeof makePipe;
  /** Pipes without a name that wait for the first process. */
  #ready: OpenPipes | undefined;
  /** A pair that is made before anybody asks for it. `undefined` when none is. */
  #next: Promise<Fifos | undefined> | undefined;
  /** Pairs whose processes have ended. */
  #free: Fifos[] = [];
  #hasFifos = true;

  /**
   * @param dir an existing private directory
   * @param options.reserve a store of pipes that nobody has used yet
   * @param options.maker a process that makes others
   * @param options.makePipe makes a pipe without a name. Default: the engine, if it can
   */
  constructor(
    dir: string,
    options: { readonly reserve?: PipeReserve; readonly maker?: PipeMaker; readonly makePipe?: typeof makePipe } = {},
  ) {
    this.#dir = dir;
    this.#makePipe = options.makePipe ?? makePipe;
    this.#reserve = options.reserve;
    this.#maker = options.maker;
  }

  /** Begins to make the first pipes, so that nothing has to wait for them. */
  prepare(): void {
    this.#ready ??= openPipes(this.#makePipe);
    if (this.#ready === undefined) this.#next ??= this.#make();
  }

  async open(): Promise<OutputPipes> {
    const pipes = this.#ready ?? openPipes(this.#makePipe);
    this.#ready = undefined;
    if (pipes !== undefined) return outputOf(pipes, { paths: pipes.paths, release() {} });
    const fifos = await this.#take();
    if (fifos === undefined) return nodePipes;
    const opened: number[] = [];
    try {
      const pair = { stdout: openFifo(fifos.stdout, opened), stderr: openFifo(fifos.stderr, opened) };
      return outputOf(pair, {
        paths: new Set([fifos.stdout, fifos.stderr]),
        release: (areDrained) => {
          if (areDrained) this.#free.push(fifos);
          else removeFifos(fifos);
        },
      });
    } catch {
      // A step removed them, or there are no descriptors left; then the attempt to spawn will say so.
      for (const fd of opened) closeSync(fd);
      removeFifos(fifos);
      return nodePipes;
    }
  }

  async close(): Promise<void> {
    if (this.#ready !== undefined) closePipes(this.#ready);
    this.#ready = undefined;
    const next = await this.#next;
    this.#next = undefined;
    for (const fifos of [...this.#free.splice(0), ...(next === undefined ? [] : [next])])
      if (this.#reserve?.giveBack(fifos) !== true) removeFifos(fifos);
  }

  async #take(): Promise<Fifos | undefined> {
    for (let fifos = this.#free.pop(); fifos !== undefined; fifos = this.#free.pop()) {
      if (areUnread(fifos)) return fifos;
      removeFifos(fifos);
    }
    const next = this.#next;
    this.#next = undefined;
    return next ?? this.#make();
  }

  /** Never rejects: nobody may be waiting for it yet. */
  async #make(): Promise<Fifos | undefined> {
    const spare = this.#reserve?.take(this.#dir);
    if (spare !== undefined) return spare;
    if (!this.#hasFifos) return undefined;
    const [fifos] = await makeFifos(this.#dir, 1, this.#maker);
    this.#hasFifos = fifos !== undefined;
    return fifos;
  }
}

const nodePipes: OutputPipes = {
  stdio: ["ignore", "pipe", "pipe"],
  paths: new Set(),
  closeWriters() {},
  release() {},
};

function outputOf(
  { stdout, stderr }: Pick<OpenPipes, "stdout" | "stderr">,
  rest: Pick<OutputPipes, "paths" | "release">,
): OutputPipes {
  return {
    ...rest,
    stdio: ["ignore", stdout.writer, stderr.writer],
    streams: { stdout: new PipeReader(stdout.reader), stderr: new PipeReader(stderr.reader) },
    closeWriters() {
      closeSync(stdout.writer);
      closeSync(stderr.writer);
    },
  };
}

function openFifo(path: string, opened: number[]): Pipe {
  // The reader first and without waiting: then the writer finds it and does not wait either.
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  opened.push(reader);
  if (!fstatSync(reader).isFIFO()) throw new Error(`Not a pipe: ${path}`);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  opened.push(writer);
  return { reader, writer };
}
