import type { Sql } from "../database/database.ts";
import { exitCodeOf } from "../jobs/exit-code.ts";
import { ensureProject } from "../projects/ensure-project.ts";
import { advancePipeline } from "./advance-pipeline.ts";
import type { JobRequest, PipelineRequest } from "./pipeline-request.ts";

const DEFAULT_TIMEOUT = 3600;

/** Creates a pipeline with its jobs, in one transaction; those whose turn it is are pending at once. Gives its id. */
export async function createPipeline(sql: Sql, request: PipelineRequest): Promise<number> {
  const project = await ensureProject(sql, request.project);
  const [pipeline] = await sql.query<{ id: number }>(
    `INSERT INTO pipelines (id, project_id, name, ref, sha, state)
     VALUES (nextval('pipeline_ids'), $1, $2, $3, $4, 'created') RETURNING id`,
    [project.id, request.name ?? "", request.ref ?? "", request.sha ?? ""],
  );
  const { id } = pipeline as { readonly id: number };
  const rows = request.jobs.map((job, position) => rowOf(job, position, request));
  // One statement, however many jobs there are.
  await sql.query(
    `INSERT INTO jobs (id, pipeline_id, project_id, state, name, stage, stage_index, position, run_when, start_in_s, needs,
       dependencies, allow_failure, allow_failure_codes, retry_max, retry_when, tags, protected, features, timeout_s, payload)
     SELECT nextval('job_ids'), $1, $2, 'created', r.name, r.stage, r.stage_index, r.position, r.run_when, r.start_in_s, r.needs,
       r.dependencies, r.allow_failure, r.allow_failure_codes, r.retry_max, r.retry_when, r.tags, r.protected, r.features,
       least(r.timeout_s, $4), r.payload
     FROM jsonb_to_recordset($3::jsonb) AS r (name text, stage text, stage_index int, position int, run_when text, start_in_s int,
       needs text[], dependencies text[], allow_failure boolean, allow_failure_codes int[], retry_max int, retry_when text[],
       tags text[], protected boolean, features text[], timeout_s int, payload jsonb)
     ORDER BY r.position`,
    [id, project.id, JSON.stringify(rows), project.timeout_s],
  );
  await advancePipeline(sql, id);
  return id;
}

function rowOf(job: JobRequest, position: number, { stages, protected: isProtected }: PipelineRequest): object {
  const { allow_failure: mayFail = false } = job;
  return {
    name: job.name,
    stage: job.stage,
    stage_index: stages.indexOf(job.stage),
    position,
    run_when: job.when ?? "on_success",
    start_in_s: job.start_in ?? null,
    needs: job.needs ?? null,
    dependencies: job.dependencies ?? null,
    allow_failure: mayFail === true,
    allow_failure_codes: typeof mayFail === "object" ? mayFail.exit_codes.map(exitCodeOf) : null,
    retry_max: job.retry?.max ?? 0,
    retry_when: job.retry?.when ?? null,
    tags: [...new Set(job.tags)].toSorted(),
    protected: job.protected ?? isProtected ?? false,
    features: [...new Set(job.features)].toSorted(),
    timeout_s: job.timeout ?? DEFAULT_TIMEOUT,
    payload: job.payload,
  };
}
