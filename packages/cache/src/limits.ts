/** What a component may cost. Sizes are counted on the bytes that really come, not on what a header claims. */
export interface Limits {
  /** Files, links and folders of one component. */
  readonly maxEntries: number;
  readonly maxFileBytes: number;
  /** Of all files of one component. */
  readonly maxTotalBytes: number;
  /** Unpacked to packed bytes of an archive, once it is larger than `ratioFloorBytes`. */
  readonly maxRatio: number;
  readonly ratioFloorBytes: number;
  /** Of one archive, or of what git receives in one fetch. */
  readonly maxDownloadBytes: number;
  /** Folders inside folders. */
  readonly maxDepth: number;
  readonly maxNameBytes: number;
  readonly maxPathBytes: number;
  /** One transfer, from its start. */
  readonly fetchTimeoutMs: number;
}

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
