import { setImmediate } from "node:timers/promises";
import type { Snapshot } from "./take-snapshot.ts";
import type { TreeRemover, Workspaces } from "./workspaces.ts";

/** More folders of ended jobs than this are not left on the disk for later: who ends another one waits. */
const MAX_REMOVALS = 4;

interface Copy {
  readonly target: string;
  /** The folder in it that stands for the project. `undefined` when it could not be made. */
  readonly made: Promise<string | undefined>;
}

/**
 * The workspaces of jobs that run one after the other or beside each other: copies of one snapshot. What takes time is done beside the
 * jobs: while one runs, the copy for the next is made, and the folders of those that have ended are removed.
 */
export class WorkspacePool implements AsyncDisposable {
  readonly #snapshot: Snapshot;
  readonly #workspaces: Workspaces;
  readonly #remover: TreeRemover | undefined;
  readonly #stop = new AbortController();
  readonly #removals = new Set<Promise<void>>();
  #expected = 0;
  #spare: Copy | undefined;

  /** @param remover takes the work of removing off this process. Default: none does */
  constructor(snapshot: Snapshot, workspaces: Workspaces, remover?: TreeRemover) {
    this.#snapshot = snapshot;
    this.#remover = remover;
    this.#workspaces = workspaces;
  }

  /** Tells that so many more jobs are about to begin, or fewer. Without any, no copy is made before somebody wants it. */
  expect(change: number): void {
    this.#expected += change;
  }

  /** Begins to make the copy for the next job that is expected. To be called when there is time: while another job runs. */
  prepare(): void {
    if (this.#spare !== undefined || this.#expected <= 0 || this.#stop.signal.aborted) return;
    const target = this.#workspaces.next();
    this.#spare = { target, made: this.#makeAhead(target) };
  }

  /**
   * Does something in a workspace, whose removal begins when it is done.
   *
   * @returns `undefined` when the signal was aborted before the workspace was there
   * @throws {WorkspaceError} `WORKSPACE_IO`
   */
  async use<Result>(work: (workDir: string) => Promise<Result>, signal: AbortSignal): Promise<Result | undefined> {
    const { target, made } = this.#take(signal);
    try {
      const workDir = await made;
      return workDir === undefined || signal.aborted ? undefined : await work(workDir);
    } finally {
      await this.#remove(target);
    }
  }

  /** Ends what is still being done. The folders that are left go with the workspaces. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#spare?.made;
    await Promise.all(this.#removals);
  }

  #take(signal: AbortSignal): Copy {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare === undefined) return this.#make(this.#workspaces.next(), signal);
    const made = spare.made.then(async (workDir) => workDir ?? (await this.#makeAnew(spare.target, signal)));
    return { target: spare.target, made };
  }

  #make(target: string, signal: AbortSignal): Copy {
    const made = this.#snapshot.copyTo(target, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return undefined;
    });
    return { target, made };
  }

  // The error comes again, with a job that it is the error of.
  async #makeAnew(target: string, signal: AbortSignal): Promise<string | undefined> {
    await this.#workspaces.empty(target);
    return this.#make(target, signal).made;
  }

  async #makeAhead(target: string): Promise<string | undefined> {
    // The job that runs goes first.
    await setImmediate();
    return this.#snapshot.copyTo(target, this.#stop.signal).catch(() => undefined);
  }

  async #remove(target: string): Promise<void> {
    // What cannot be removed is tried once more at the end, and said then.
    const removal = this.#workspaces.remove(target, this.#remover).catch(() => {});
    this.#removals.add(removal);
    void removal.then(() => this.#removals.delete(removal));
    while (this.#removals.size > MAX_REMOVALS) await Promise.race(this.#removals);
  }
}
