/** A component of steps, or a tool that a step ran: where it came from and exactly what it was. */
export interface Resource {
  readonly kind: "git" | "zip" | "oci" | "local" | "dist" | "binary";
  /** Without credentials. A local component: its absolute path. */
  readonly uri: string;
  /** What the author wrote: a branch, a tag, a short or full commit. Empty where the kind has none. */
  readonly requestedVersion: string;
  /** What that was when it was fetched: a full commit. Empty where the kind has none. */
  readonly resolvedVersion: string;
  /** Under in-toto's keys: `gitCommit`, `gitTree` (SHA-256, 64 digits), `sha256` (of a zip or a program). */
  readonly digest: Readonly<Record<string, string>>;
  /** The tree's id in the repository's own hash. */
  readonly nativeTreeId?: string;
  /** Whether the requested version may name something else tomorrow. */
  readonly isMutable: boolean;
  /** Where the bytes came from, if a mirror stood in for `uri`. */
  readonly downloadLocation?: string;
}

/** What it took to bring a component here. */
export interface FetchReport {
  readonly isHit: boolean;
  readonly bytes: number;
  readonly durationMs: number;
}
