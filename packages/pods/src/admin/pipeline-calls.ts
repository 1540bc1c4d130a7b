import { watch } from "../api/trace-interval.ts";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import { isInHand, type JobState } from "../jobs/job.ts";
import { cancelPipeline } from "../lifecycle/cancel.ts";
import { createPipeline } from "../pipelines/create-pipeline.ts";
import { checkPipeline } from "../pipelines/pipeline-request.ts";
import type { Pod } from "../pod/pod.ts";
import { type JobView, listJobs } from "./job-list.ts";
import { limitOf, readJson } from "./read-json.ts";

/** The most bytes of a pipeline with all its jobs. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A pipeline as the admin API shows it. */
export interface PipelineView {
  readonly id: number;
  readonly project: string;
  readonly name: string;
  readonly ref: string;
  readonly sha: string;
  readonly state: string;
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

const PIPELINES = `SELECT l.id, p.path AS project, l.name, l.ref, l.sha, l.state, l.created_at, l.finished_at
  FROM pipelines l JOIN projects p ON p.id = l.project_id`;

/** `POST /pipelines`: creates a pipeline with its jobs. */
export async function postPipeline(pod: Pod, exchange: Exchange): Promise<void> {
  const request = checkPipeline(await readJson(exchange, MAX_BYTES));
  const id = await pod.database.transaction(async (sql) => await createPipeline(sql, request));
  pod.database.hint("queue");
  pod.settings.log("info", "A pipeline was created", {
    pipeline: id,
    project: request.project,
    jobs: request.jobs.length,
  });
  await showPipeline(pod, exchange, id, 201);
}

/** `GET /pipelines/:id`: the pipeline with its jobs. Runners of those that run tell more often how they do while somebody asks. */
export async function getPipeline(pod: Pod, exchange: Exchange, id: number): Promise<void> {
  const jobs = await showPipeline(pod, exchange, id, 200);
  for (const job of jobs) if (isInHand(job.state as JobState)) watch(pod, job.id);
}

async function showPipeline(pod: Pod, exchange: Exchange, id: number, status: number): Promise<readonly JobView[]> {
  const [pipeline] = await pod.database.query<PipelineView>(`${PIPELINES} WHERE l.id = $1`, [id]);
  if (pipeline === undefined) throw new HttpError(404, `There is no pipeline ${id}`);
  const jobs = await listJobs(pod.database, { pipeline: id, limit: 100_000 });
  exchange.json(status, { ...pipeline, jobs });
  return jobs;
}

/** `GET /pipelines`: the newest pipelines. */
export async function getPipelines(pod: Pod, exchange: Exchange): Promise<void> {
  const project = exchange.query.get("project");
  const pipelines = await pod.database.query<PipelineView>(
    `${PIPELINES} WHERE $1::text IS NULL OR p.path = $1 ORDER BY l.id DESC LIMIT $2`,
    [project, limitOf(exchange)],
  );
  exchange.json(200, pipelines);
}

/** `POST /pipelines/:id/cancel`: cancels all of its jobs. */
export async function postPipelineCancel(pod: Pod, exchange: Exchange, id: number): Promise<void> {
  const isKnown = await pod.database.transaction(async (sql) => await cancelPipeline(sql, id));
  if (!isKnown) throw new HttpError(404, `There is no pipeline ${id}`);
  await showPipeline(pod, exchange, id, 200);
}
