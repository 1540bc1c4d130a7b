import type { Sql } from "../database/database.ts";

/** A file that a job has left. */
export interface Artifact {
  readonly job_id: number;
  readonly type: string;
  readonly format: string;
  readonly filename: string;
  readonly size: number;
  readonly sha256: string;
  /** Its name in the store of artifacts. */
  readonly object: string;
  readonly expires_at: Date | null;
}

/** The artifact of a job with this type, unless it has expired. */
export async function findArtifact(sql: Sql, jobId: number, type: string): Promise<Artifact | undefined> {
  const [artifact] = await sql.query<Artifact>(
    `SELECT job_id, type, format, filename, size, sha256, object, expires_at FROM artifacts
     WHERE job_id = $1 AND type = $2 AND (expires_at IS NULL OR expires_at > now())`,
    [jobId, type],
  );
  return artifact;
}
