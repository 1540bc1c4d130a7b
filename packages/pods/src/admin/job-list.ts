import type { Sql } from "../database/database.ts";

/** A job as the admin API shows it. */
export interface JobView {
  readonly id: number;
  readonly pipeline_id: number;
  readonly project: string;
  readonly name: string;
  readonly stage: string;
  readonly state: string;
  readonly when: string;
  readonly allow_failure: boolean;
  readonly tags: readonly string[];
  readonly protected: boolean;
  /** How often it was given to a runner. */
  readonly attempt: number;
  /** The runner that has it, or had it last. */
  readonly runner_id: number | null;
  readonly system_id: string | null;
  readonly failure_reason: string | null;
  readonly exit_code: number | null;
  readonly trace_size: number;
  readonly trace_damaged: boolean;
  /** A newer job has taken its place. */
  readonly retried: boolean;
  readonly created_at: Date;
  readonly queued_at: Date | null;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly artifacts: readonly { readonly type: string; readonly filename: string; readonly size: number }[];
}

/** Which jobs are listed: those that fit all of what is given, the newest first; those of a pipeline in its order. */
export interface JobFilter {
  readonly id?: number | undefined;
  readonly pipeline?: number | undefined;
  readonly project?: string | undefined;
  readonly state?: string | undefined;
  readonly limit: number;
}

/** Lists jobs. */
export async function listJobs(sql: Sql, { id, pipeline, project, state, limit }: JobFilter): Promise<JobView[]> {
  return await sql.query<JobView>(
    `SELECT j.id, j.pipeline_id, p.path AS project, j.name, j.stage, j.state, j.run_when AS when, j.allow_failure, j.tags,
       j.protected, j.attempt, j.runner_id, m.system_id, j.failure_reason, j.exit_code, j.trace_size, j.trace_damaged, j.retried,
       j.created_at, j.queued_at, j.started_at, j.finished_at,
       coalesce((SELECT jsonb_agg(jsonb_build_object('type', a.type, 'filename', a.filename, 'size', a.size) ORDER BY a.type)
         FROM artifacts a WHERE a.job_id = j.id), '[]') AS artifacts
     FROM jobs j JOIN projects p ON p.id = j.project_id LEFT JOIN managers m ON m.id = j.manager_id
     WHERE ($1::bigint IS NULL OR j.id = $1) AND ($2::bigint IS NULL OR j.pipeline_id = $2)
       AND ($3::text IS NULL OR p.path = $3) AND ($4::text IS NULL OR j.state = $4)
     ORDER BY CASE WHEN $2::bigint IS NULL THEN -j.id ELSE j.position END, j.id LIMIT $5`,
    [id ?? null, pipeline ?? null, project ?? null, state ?? null, limit],
  );
}
