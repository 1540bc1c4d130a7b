import type { Pod } from "../pod/pod.ts";

/** The most files that one sweep removes: a store may be slow. */
const FILES = 100;

/** Removes artifacts whose time is over. Nobody is given one of them any more, and the row stays until its file is gone. */
export async function removeArtifacts({ database, artifacts }: Pod): Promise<void> {
  const due = await database.query<{ id: number; object: string }>(
    `SELECT id, object FROM artifacts WHERE expires_at < now() ORDER BY id LIMIT ${FILES}`,
  );
  const gone: number[] = [];
  try {
    for (const { id, object } of due) {
      await artifacts.remove(object);
      gone.push(id);
    }
  } finally {
    if (gone.length > 0) await database.query("DELETE FROM artifacts WHERE id = ANY ($1::bigint[])", [gone]);
  }
}

/** Removes what killed processes have left of files that they were receiving. */
export async function tidyArtifacts({ artifacts }: Pod): Promise<void> {
  await artifacts.tidy();
}
