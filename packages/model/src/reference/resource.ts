import type { ComponentKindName } from "./kinds.ts";

/** A component of steps, or a tool that a step ran: where it came from and exactly what it was. */
export interface Resource {
  readonly kind: ComponentKindName | "dist" | "binary";
  /** The URL without credentials; for a local component its absolute path. */
  readonly uri: string;
  /** The version that the author wrote: a branch, a tag, a short or full commit. Empty for kinds without versions. */
  readonly requestedVersion: string;
  /** The full commit that the requested version named when it was fetched. Empty for kinds without commits. */
  readonly resolvedVersion: string;
  /**
   * The digests under in-toto's keys: `gitCommit`, `gitTree` (SHA-256, 64 digits), `sha256` (of a zip or a program).
   */
  readonly digest: Readonly<Record<string, string>>;
  /** The tree's id in the repository's own hash. */
  readonly nativeTreeId?: string;
  /** Whether the requested version may name something else tomorrow. */
  readonly isMutable: boolean;
  /** The URL that the bytes came from, if a mirror stood in for `uri`. */
  readonly downloadLocation?: string;
}
