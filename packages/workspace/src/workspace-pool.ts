import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Snapshot } from "./take-snapshot.ts";
import type { FolderHelper, Workspaces } from "./workspaces.ts";

/** More folders of ended jobs than this are not left on the disk for later: who ends another one waits. */
const MAX_REMOVALS = 4;

/** How the copies are made. */
export interface WorkspacePoolOptions {
  /** Copies and removes beside this process. Default: it does so itself. */
  readonly helper?: FolderHelper;
  /** How many copies are made ahead at most; of a large project it is one. Default: 1. */
  readonly ahead?: number;
}

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
  readonly #helper: FolderHelper | undefined;
  readonly #stop = new AbortController();
  readonly #removals = new Set<Promise<void>>();
  readonly #ahead: number;
  #undecided = 0;
  #waiting = 0;
  #spares: Copy[] = [];

  constructor(snapshot: Snapshot, workspaces: Workspaces, { helper, ahead = 1 }: WorkspacePoolOptions = {}) {
    this.#snapshot = snapshot;
    this.#workspaces = workspaces;
    this.#helper = helper;
    this.#ahead = ahead;
  }

  /**
   * Tells what is to come, as differences: how many jobs wait for their place, and of how many it is not decided yet whether they run.
   * Without any, no copy is made before somebody wants it.
   */
  expect({ waiting = 0, undecided = 0 }: { readonly waiting?: number; readonly undecided?: number }): void {
    this.#waiting += waiting;
    this.#undecided += undecided;
  }

  /** Begins to make copies for the next jobs that are expected. To be called when there is time: while another job runs. */
  prepare(): void {
    if (this.#stop.signal.aborted) return;
    // A copy that takes long is made for somebody who is sure to want it.
    const wanted = this.#snapshot.isLarge ? Math.min(1, this.#waiting) : this.#waiting + this.#undecided;
    for (let missing = Math.min(wanted, this.#ahead) - this.#spares.length; missing > 0; missing--) {
      const target = this.#workspaces.next();
      this.#spares.push({ target, made: this.#makeAhead(target) });
    }
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
    for (const { made } of this.#spares) await made;
    await Promise.all(this.#removals);
  }

  #take(signal: AbortSignal): Copy {
    const spare = this.#spares.shift();
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
    const { root, folder, isLarge } = this.#snapshot;
    // Nobody can stop this work, so it must not take long.
    const isCopied = isLarge ? undefined : await this.#helper?.copyTree(root, target);
    if (isCopied !== undefined) return isCopied ? join(target, relative(root, folder)) : undefined;
    return this.#snapshot.copyTo(target, this.#stop.signal).catch(() => undefined);
  }

  async #remove(target: string): Promise<void> {
    // A folder that cannot be removed is tried once more at the end, and named then.
    const removal = this.#workspaces.remove(target, this.#helper).catch(() => {});
    this.#removals.add(removal);
    void removal.then(() => this.#removals.delete(removal));
    while (this.#removals.size > MAX_REMOVALS) await Promise.race(this.#removals);
  }
}
