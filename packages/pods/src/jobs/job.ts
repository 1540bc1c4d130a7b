import type { Sql } from "../database/database.ts";

/** The states of a job. `created` waits for other jobs, `scheduled` for a time, `manual` for a person, `assigned` for its runner. */
export type JobState =
  | "created"
  | "scheduled"
  | "manual"
  | "pending"
  | "assigned"
  | "running"
  | "canceling"
  | "success"
  | "failed"
  | "canceled"
  | "skipped";

const FINAL: ReadonlySet<string> = new Set<JobState>(["success", "failed", "canceled", "skipped"]);

/** Whether nothing changes the state any more. */
export function isFinal(state: JobState): boolean {
  return FINAL.has(state);
}

/** Whether a runner has the job. */
export function isInHand(state: JobState): boolean {
  return state === "assigned" || state === "running" || state === "canceling";
}

/** The part of a job that its runner's calls read and change. */
export interface Job {
  readonly id: number;
  readonly pipeline_id: number;
  readonly project_id: number;
  readonly state: JobState;
  readonly attempt: number;
  readonly accepted_attempt: number | null;
  readonly cancel_gracefully: boolean;
  readonly failure_reason: string | null;
  readonly trace_size: number;
  readonly trace_crc: number;
  readonly trace_resets: number;
}

const COLUMNS = `id, pipeline_id, project_id, state, attempt, accepted_attempt, cancel_gracefully, failure_reason, trace_size,
  trace_crc, trace_resets`;

/** Reads a job. */
export async function findJob(sql: Sql, id: number): Promise<Job | undefined> {
  const [job] = await sql.query<Job>(`SELECT ${COLUMNS} FROM jobs WHERE id = $1`, [id]);
  return job;
}

/**
 * Reads a job and locks it with its pipeline until the end of the transaction. The pipeline comes first here and everywhere, so that two
 * transactions never wait for each other.
 */
export async function lockJob(sql: Sql, id: number): Promise<Job | undefined> {
  await sql.query("SELECT FROM pipelines WHERE id = (SELECT pipeline_id FROM jobs WHERE id = $1) FOR UPDATE", [id]);
  const [job] = await sql.query<Job>(`SELECT ${COLUMNS} FROM jobs WHERE id = $1 FOR UPDATE`, [id]);
  return job;
}
