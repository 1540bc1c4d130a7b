import type { ArtifactRegistry } from "@steps/github-services";

/** The artifacts that the jobs of one pipeline hand on to each other: `GithubOptions.artifacts` of each of them. */
export async function sharedArtifacts(): Promise<ArtifactRegistry> {
  // Most runs need none of it.
  const { createArtifactRegistry, DEFAULT_LIMITS } = await import("@steps/github-services");
  return createArtifactRegistry(DEFAULT_LIMITS.maxArtifacts);
}
