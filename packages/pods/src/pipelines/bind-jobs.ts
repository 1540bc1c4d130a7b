import type { Sql } from "../database/database.ts";
import { jobsBefore, type PlannedJob } from "./decide-jobs.ts";

/** A variable of a job as the payload has it. */
interface Variable {
  readonly key: string;
  readonly value: string;
  readonly public: boolean;
  readonly masked: boolean;
  readonly file: boolean;
  readonly raw: boolean;
}

/** The facts about a job that became known when the jobs before it had ended; its payload gets them. */
export interface Bound {
  /** The jobs whose artifacts it gets. */
  readonly dependencies?: readonly {
    readonly id: number;
    readonly name: string;
    readonly artifacts_file: { readonly filename: string; readonly size: number };
  }[];
  /** The variables of their `dotenv` reports. */
  readonly variables?: readonly Variable[];
}

interface Source extends PlannedJob {
  readonly dependencies: readonly string[] | null;
  readonly dotenv: Readonly<Record<string, string>>;
  readonly filename: string | null;
  readonly size: number | null;
}

/** Writes down what jobs get from those before them. */
export async function bindJobs(sql: Sql, pipelineId: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const jobs = await sql.query<Source>(
    `SELECT j.id, j.name, j.stage_index, j.state, j.run_when, j.needs, j.dependencies, j.dotenv, a.filename, a.size
     FROM jobs j LEFT JOIN artifacts a ON a.job_id = j.id AND a.type = 'archive' AND (a.expires_at IS NULL OR a.expires_at > now())
     WHERE j.pipeline_id = $1 AND NOT j.retried ORDER BY j.position, j.id`,
    [pipelineId],
  );
  const wanted = new Set(ids);
  for (const job of jobs.filter(({ id }) => wanted.has(id))) {
    const bound = boundOf(sourcesOf(job, jobs));
    if (bound !== undefined)
      await sql.query("UPDATE jobs SET bound = $2::jsonb WHERE id = $1", [job.id, JSON.stringify(bound)]);
  }
}

function sourcesOf(job: Source, jobs: readonly Source[]): Source[] {
  const { dependencies } = job;
  return dependencies === null ? jobsBefore(job, jobs) : jobs.filter(({ name }) => dependencies.includes(name));
}

function boundOf(sources: readonly Source[]): Bound | undefined {
  const dependencies = sources.flatMap(({ id, name, filename, size }) =>
    filename === null ? [] : [{ id, name, artifacts_file: { filename, size: size ?? 0 } }],
  );
  const values = Object.assign({}, ...sources.map(({ dotenv }) => dotenv)) as Record<string, string>;
  const variables = Object.entries(values).map(([key, value]) => ({
    key,
    value,
    public: false,
    masked: false,
    file: false,
    raw: true,
  }));
  return dependencies.length + variables.length === 0 ? undefined : { dependencies, variables };
}
