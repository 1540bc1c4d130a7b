import { randomUUID } from "node:crypto";
import type { Database } from "../database/database.ts";
import { acceptJob } from "../jobs/accept-job.ts";
import type { Job } from "../jobs/job.ts";
import type { ReceivedFile } from "./receive-file.ts";

/** The facts about an artifact besides its bytes. */
export interface ArtifactFacts {
  readonly type: string;
  readonly format: string;
  /** Seconds. Null: never. */
  readonly expiresIn: number | null;
  /** The variables of a `dotenv` report. */
  readonly variables: Readonly<Record<string, string>> | undefined;
}

/** A file in its store. */
export type StoredFile = Pick<ReceivedFile, "filename" | "size" | "sha256"> & { readonly object: string };

/** The name of a file of a job that no other has: `objects/0/42.1.UUID`. */
export function objectName({ id, attempt }: Pick<Job, "id" | "attempt">): string {
  return `objects/${Math.floor(id / 1000)}/${id}.${attempt}.${randomUUID()}`;
}

/**
 * The outcome: kept, there already with the same bytes, there with others, one more than a job may have, or of an attempt that does not
 * count any more.
 */
export type Kept = "kept" | "same" | "other" | "too many" | "superseded";

/** The most artifacts of one job, each of another type; GitLab knows about thirty. The scripts of a job have its token, too. */
export const MAX_ARTIFACTS = 100;

/**
 * Keeps a file that is in its store as the artifact of a job. It is in its place before the row says so, and only the row makes it an
 * artifact: that of an attempt that was superseded meanwhile never becomes one.
 */
export async function keepArtifact(
  database: Database,
  job: Job,
  file: StoredFile,
  facts: ArtifactFacts,
): Promise<Kept> {
  const { object } = file;
  return await database.transaction(async (sql) => {
    // A runner that leaves a file has confirmed its job: given to another one, the job would have files of both.
    if ((await acceptJob(sql, job.id, job.attempt)) === undefined) return "superseded";
    const [known] = await sql.query<{ sha256: string }>(
      "SELECT sha256 FROM artifacts WHERE job_id = $1 AND type = $2",
      [job.id, facts.type],
    );
    if (known !== undefined) return known.sha256 === file.sha256 ? "same" : "other";
    const others = await sql.query("SELECT FROM artifacts WHERE job_id = $1", [job.id]);
    if (others.length >= MAX_ARTIFACTS) return "too many";
    await sql.query(
      `INSERT INTO artifacts (job_id, attempt, type, format, filename, size, sha256, object, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9))`,
      [job.id, job.attempt, facts.type, facts.format, file.filename, file.size, file.sha256, object, facts.expiresIn],
    );
    if (facts.variables !== undefined)
      await sql.query("UPDATE jobs SET dotenv = $2::jsonb WHERE id = $1", [job.id, JSON.stringify(facts.variables)]);
    return "kept";
  });
}
