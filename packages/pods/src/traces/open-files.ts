import { mkdir, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";

/** The file of a trace that is appended to. */
export interface OpenFile {
  readonly job: number;
  readonly handle: FileHandle;
  /** The bytes in it that count; undefined as long as nobody has looked, or when a look is due again. */
  size: number | undefined;
}

/** The most files that stay open without being used. */
const MAX_IDLE = 256;

/** Files of traces that stay open from one append to the next, those that were used last. */
export class OpenFiles {
  readonly #idle = new Map<string, OpenFile>();

  /** The bytes in a file that count, if it is open and somebody has looked. */
  sizeOf(path: string): number | undefined {
    return this.#idle.get(path)?.size;
  }

  /** Works with a file, which is made if there is none; nobody else may use it meanwhile. It is closed when the work fails. */
  async use<T>(path: string, job: number, work: (file: OpenFile) => Promise<T>): Promise<T> {
    const file = this.#idle.get(path) ?? { job, handle: await openForWriting(path), size: undefined };
    this.#idle.delete(path);
    let isDone = false;
    try {
      const result = await work(file);
      isDone = true;
      return result;
    } finally {
      if (isDone) await this.#keep(path, file);
      else await file.handle.close();
    }
  }

  /** Closes the files of these jobs, or of all. */
  async close(jobs?: ReadonlySet<number>): Promise<void> {
    for (const [path, { job, handle }] of this.#idle)
      if (jobs?.has(job) !== false) {
        this.#idle.delete(path);
        await handle.close();
      }
  }

  async #keep(path: string, file: OpenFile): Promise<void> {
    this.#idle.set(path, file);
    if (this.#idle.size <= MAX_IDLE) return;
    const [[oldest, { handle }] = [path, file]] = this.#idle;
    this.#idle.delete(oldest);
    await handle.close();
  }
}

async function openForWriting(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  await (await open(path, "a", 0o600)).close();
  return await open(path, "r+");
}
