import { readDuration } from "@steps/model/gitlab-duration";
import { entriesOf, entryPath, type Metadata, openEntry, removeEntry } from "../store/entry-store.ts";

/** The time at which artifacts expire, in milliseconds since 1970; `undefined` for those that never do. */
function expiryOf({ createdAt, expireIn }: Metadata): number | undefined {
  if (typeof createdAt !== "string" || typeof expireIn !== "string") return undefined;
  const [start, time] = [Date.parse(createdAt), readDuration(expireIn)];
  return Number.isNaN(start) || time === undefined ? undefined : start + time;
}

/** Whether the time of artifacts is over. */
export function isExpired(metadata: Metadata): boolean {
  const end = expiryOf(metadata);
  return end !== undefined && end <= Date.now();
}

/** Removes the artifacts in a store whose time is over. @param artifactsDir - The folder in which jobs keep their artifacts: absolute. */
export async function removeExpired(artifactsDir: string): Promise<void> {
  for (const path of entriesOf(artifactsDir)) {
    const entry = openEntry(path);
    if (entry !== undefined && isExpired(entry.metadata)) await removeEntry(path);
  }
}

/**
 * Removes what a job has kept, before it is tried again.
 *
 * @param artifactsDir - The folder in which jobs keep their artifacts: absolute.
 * @throws {BuiltinError} BUILTIN_FAILED for a store that is not an absolute path
 */
export async function removeArtifacts(artifactsDir: string, job: string): Promise<void> {
  await removeEntry(entryPath(artifactsDir, job));
}
