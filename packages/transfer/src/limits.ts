/**
 * The limits on the cost of a component. Sizes are those of the bytes that really arrive, not those that a header
 * claims.
 */
export interface Limits {
  /** Files, links and folders of one component. */
  readonly maxEntries: number;
  readonly maxFileBytes: number;
  /** The total size of the files of one component. */
  readonly maxTotalBytes: number;
  /**
   * The ratio of unpacked to packed bytes of an archive; it counts once the archive has more than `ratioFloorBytes`.
   */
  readonly maxRatio: number;
  readonly ratioFloorBytes: number;
  /** The size of one archive, or of the data that git receives in one fetch. */
  readonly maxDownloadBytes: number;
  /** The depth of folders inside folders. */
  readonly maxDepth: number;
  readonly maxNameBytes: number;
  readonly maxPathBytes: number;
  /** The time for one transfer, from its start. */
  readonly fetchTimeoutMs: number;
}

/** The limits that hold by default. Their units are those of `Limits`. */
export const DEFAULT_LIMITS: Limits = {
  maxEntries: 20_000,
  maxFileBytes: 256 * 1024 * 1024,
  maxTotalBytes: 512 * 1024 * 1024,
  maxRatio: 200,
  ratioFloorBytes: 10 * 1024 * 1024,
  maxDownloadBytes: 1024 * 1024 * 1024,
  maxDepth: 64,
  maxNameBytes: 255,
  maxPathBytes: 4096,
  fetchTimeoutMs: 600_000,
};
