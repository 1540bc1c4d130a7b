import type { FetchProgress } from "../component.ts";
import type { Remote } from "@steps/transfer";
import type { ObjectSource } from "./git-objects.ts";

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: FetchProgress) => void) | undefined;
}

/** The objects of a request, and the cost of bringing them here. */
export interface Obtained {
  readonly source: ObjectSource;
  /** The number of bytes that came over the wire or from another folder. It is an estimate where git does not tell. */
  readonly bytes: number;
  /** Whether the objects were here already: if they are damaged, a fresh fetch may help. */
  readonly isReused: boolean;
}

/** The way to talk to repositories: by the `git` program, or by isomorphic-git where there is none. */
export interface GitBackend {
  /** Ids of those of the named refs that exist; a tag's commit is under `NAME^{}`. @throws {CacheError} */
  listRefs(remote: Remote, names: readonly string[], options: TransferOptions): Promise<Map<string, string>>;
  /** The names of all tags. @throws {CacheError} */
  listTags(remote: Remote, options: TransferOptions): Promise<string[]>;
  /** Brings a commit and its tree here. @throws {CacheError} REFERENCE_NOT_FOUND and the errors of the transport */
  obtain(remote: Remote, commit: string, options: TransferOptions & { readonly isFresh?: boolean }): Promise<Obtained>;
  /** `obtain()` without asking anybody: `undefined` when the objects are not here. Absent where nothing is kept. */
  obtainStored?(remote: Remote, commit: string, options: TransferOptions): Promise<Obtained | undefined>;
  /** All commits that start with these digits, after bringing the history here. @throws {CacheError} */
  findCommits(remote: Remote, prefix: string, options: TransferOptions): Promise<string[]>;
}
