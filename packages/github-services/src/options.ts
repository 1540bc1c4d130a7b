/** The limits that the services set for themselves and their clients. Sizes are in bytes, times in milliseconds. */
export interface ServiceLimits {
  /**
   * The total size of the saved caches in the folder. The least recently used are removed first. The default is
   * GitHub's limit for a repository.
   */
  readonly maxCacheBytes: number;
  /** The size of one saved cache. */
  readonly maxCacheEntryBytes: number;
  /** The total size of all artifacts of the job, with compressed items expanded. */
  readonly maxArtifactBytes: number;
  /** Artifacts of a job. GitHub's limit. */
  readonly maxArtifacts: number;
  /** The number of files of one artifact of the old protocol. */
  readonly maxArtifactItems: number;
  /** The size of a request that is not an upload. */
  readonly maxJsonBytes: number;
  /** Uploads that were begun and neither finished nor given up. */
  readonly maxOpenUploads: number;
  readonly maxConnections: number;
  /** A connection on which nothing moves is closed. */
  readonly idleMs: number;
  /** The time for one request, however steadily its data arrives. */
  readonly requestMs: number;
  /** A save that nobody writes to keeps its key from others for so long. */
  readonly reservationMs: number;
  /** How long a signed URL is good for. */
  readonly signedUrlMs: number;
}

const GIB = 1024 ** 3;
const MINUTE_MS = 60_000;

/** The limits that hold unless others are asked for. */
export const DEFAULT_LIMITS: ServiceLimits = {
  maxCacheBytes: 10 * GIB,
  maxCacheEntryBytes: 10 * GIB,
  maxArtifactBytes: 20 * GIB,
  maxArtifacts: 500,
  maxArtifactItems: 100_000,
  maxJsonBytes: 1024 ** 2,
  maxOpenUploads: 256,
  maxConnections: 512,
  idleMs: 2 * MINUTE_MS,
  requestMs: 60 * MINUTE_MS,
  reservationMs: 5 * MINUTE_MS,
  signedUrlMs: 60 * MINUTE_MS,
};

/** Told about what users of a job may want to know: a code (`cache-evicted`) and a sentence. */
export type OnNote = (code: NoteCode, message: string) => void;

/** The codes of the notes that the services make for the log. */
export type NoteCode =
  /** A saved cache made way for a newer one. */
  | "cache-evicted"
  /** A saved cache is not what it says it is and was ignored. */
  | "cache-damaged"
  /** A request was refused for what it says: a name, a size, a part that is not what it should be. */
  | "request-refused"
  /** A request failed on this side: a full disk, a folder that cannot be written. */
  | "service-failed";
