import type { FetchReport, Resource } from "@steps/model/event";
import type { ComponentRequest, StoredKindName } from "@steps/model/kinds";

/** The progress of a fetch. */
export interface FetchProgress {
  readonly phase: string;
  readonly bytes?: number;
  readonly totalBytes?: number;
}

/** The options for resolving one component. */
export interface ResolveOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: FetchProgress) => void;
  /**
   * Replay: the component must be exactly this one. Git is fetched by `gitCommit` whatever the version says now, a zip
   * is checked by `sha256`, a folder by `gitTree`; of an image the manifest `sha256` is fetched, whatever the platform.
   */
  readonly pin?: Resource;
}

/** A component that is here, as its protocol found it. */
export interface FoundComponent {
  readonly resource: Resource;
  /** A read-only tree in the cache; of a local component the folder itself. */
  readonly dir: string;
  /** True if `dir` is a folder of the user's own, whatever the resource is called: it is used where it is. Default: false. */
  readonly isInPlace?: boolean;
  readonly fetch: FetchReport;
  /**
   * A remark for readers of the trace: the tree was found changed and fetched again, or a folder is too large to
   * digest.
   */
  readonly note?: string;
}

/** A component that is here, and can be copied for a job. */
export interface ResolvedComponent extends FoundComponent {
  /**
   * Copies the tree for a job into `targetDir` (made if missing, must be empty) and gives the folder to use. Steps run as
   * the owner of the cache, so what they can write to must not be the cache. A local component is used where it is.
   *
   * @throws {CacheError}
   */
  readonly copyTo: (targetDir: string) => Promise<string>;
}

/** A component that the cache knows. */
export interface CacheEntry {
  readonly kind: StoredKindName;
  readonly uri: string;
  readonly version: string;
  /** Full commit, or SHA-256 of the archive or of the image's manifest. */
  readonly resolvedVersion: string;
  readonly gitTree: string;
  /** The total size of the component's files. */
  readonly bytes: number;
  /** The time of the fetch by the wall clock, in milliseconds since 1970. */
  readonly fetchedAt: number;
  readonly lastUsedAt: number;
  /** Whether a running job holds it. */
  readonly isLeased: boolean;
}

/** The result of a full check of the cache. Damaged trees, archives, repositories and records have been removed. */
export interface VerifyReport {
  readonly trees: number;
  readonly archives: number;
  readonly damaged: readonly { readonly path: string; readonly expected: string; readonly actual: string }[];
}

/** The limits for `ComponentCache.collect()`. A limit that is absent removes nothing. */
export interface CollectOptions {
  /** Removes the least recently used trees, archives and repositories until the rest is no larger, in bytes. */
  readonly maxBytes?: number;
  /** Removes everything that was not used for this long, in milliseconds. */
  readonly maxAgeMs?: number;
}

/** The result of `ComponentCache.collect()`: entries removed, and the bytes removed and kept. */
export interface GcReport {
  readonly removed: number;
  readonly removedBytes: number;
  readonly keptBytes: number;
  /** Trees that a running job holds: never removed. */
  readonly leased: number;
}

/**
 * One job's view of the shared cache: a branch or tag is looked up once and means the same until the object is
 * disposed of; a new object looks again.
 */
export interface ComponentCache extends AsyncDisposable {
  /** Brings a component here, or finds it. @throws {CacheError} */
  resolve(request: ComponentRequest, options?: ResolveOptions): Promise<ResolvedComponent>;
  /**
   * The names of the tags of a git repository, in no order; of one that cannot be asked offline, the versions that are known here.
   *
   * @throws {CacheError}
   */
  tags(url: string, options?: Pick<ResolveOptions, "signal">): Promise<readonly string[]>;
  list(): Promise<CacheEntry[]>;
  verify(): Promise<VerifyReport>;
  collect(options: CollectOptions): Promise<GcReport>;
}
