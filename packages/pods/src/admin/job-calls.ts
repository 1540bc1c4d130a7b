import { watch } from "../api/trace-interval.ts";
import { findArtifact } from "../artifacts/find-artifact.ts";
import { sendArtifact } from "../artifacts/send-artifact.ts";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import { findJob, isFinal } from "../jobs/job.ts";
import { cancelJob } from "../lifecycle/cancel.ts";
import { playJob, retryJob } from "../lifecycle/retry.ts";
import type { Pod } from "../pod/pod.ts";
import { listJobs } from "./job-list.ts";
import { limitOf } from "./read-json.ts";

/** `GET /jobs`: the newest jobs, by `state`, `project` or `pipeline`. */
export async function getJobs(pod: Pod, exchange: Exchange): Promise<void> {
  const pipeline = exchange.query.get("pipeline");
  if (pipeline !== null && !/^\d{1,16}$/.test(pipeline)) throw new HttpError(400, "pipeline: a number");
  const jobs = await listJobs(pod.database, {
    state: exchange.query.get("state") ?? undefined,
    project: exchange.query.get("project") ?? undefined,
    pipeline: pipeline === null ? undefined : Number(pipeline),
    limit: limitOf(exchange),
  });
  exchange.json(200, jobs);
}

/** `GET /jobs/:id`. */
export async function getJob(pod: Pod, exchange: Exchange, id: number): Promise<void> {
  await showJob(pod, exchange, id, 200);
}

/** `POST /jobs/:id/cancel`. */
export async function postCancel(pod: Pod, exchange: Exchange, id: number): Promise<void> {
  const job = await pod.database.transaction(async (sql) => await cancelJob(sql, id));
  if (job !== undefined && isFinal(job.state)) throw new HttpError(409, `Job ${id} has ended: ${job.state}`);
  if (job !== undefined) pod.database.hint("queue");
  await showJob(pod, exchange, id, 200);
}

/** `POST /jobs/:id/retry`: the new job that takes the place of one that ended. */
export async function postRetry(pod: Pod, exchange: Exchange, id: number): Promise<void> {
  const retried = await pod.database.transaction(async (sql) => await retryJob(sql, id));
  if ("refused" in retried) {
    if (retried.refused === "unknown") throw noJob(id);
    const why = retried.refused === "not-ended" ? "has not ended" : "was tried again already";
    throw new HttpError(409, `Job ${id} ${why}`);
  }
  if (retried.isQueued) pod.database.hint("queue");
  await showJob(pod, exchange, retried.id, 201);
}

/** `POST /jobs/:id/play`: starts a manual or a delayed job. */
export async function postPlay(pod: Pod, exchange: Exchange, id: number): Promise<void> {
  const job = await pod.database.transaction(async (sql) => await playJob(sql, id));
  if (job !== undefined && job.state !== "manual" && job.state !== "scheduled")
    throw new HttpError(409, `Job ${id} waits for nobody: ${job.state}`);
  pod.database.hint("queue");
  await showJob(pod, exchange, id, 200);
}

async function showJob(pod: Pod, exchange: Exchange, id: number, status: number): Promise<void> {
  const [job] = await listJobs(pod.database, { id, limit: 1 });
  if (job === undefined) throw noJob(id);
  exchange.json(status, job);
}

function noJob(id: number): HttpError {
  return new HttpError(404, `There is no job ${id}`);
}

const MAX_TRACE_PART = 1024 * 1024;

/**
 * `GET /jobs/:id/trace?offset=N`: at most 1 MiB of the trace from there on. `X-Trace-Size` says how much there is, `Job-Status` whether
 * more may come. Its runner sends more often while somebody asks.
 */
export async function getTrace(pod: Pod, exchange: Exchange, id: number): Promise<void> {
  const text = exchange.query.get("offset") ?? "0";
  if (!/^\d{1,15}$/.test(text)) throw new HttpError(400, "offset: a number");
  const offset = Number(text);
  watch(pod, id);
  const job = await findJob(pod.database, id);
  if (job === undefined) throw noJob(id);
  const length = Math.max(0, Math.min(job.trace_size - offset, MAX_TRACE_PART));
  const bytes = length === 0 ? Buffer.alloc(0) : await pod.traces.read(job, offset, length);
  exchange.bytes(200, bytes, {
    "content-type": "text/plain; charset=utf-8",
    "x-trace-size": String(job.trace_size),
    "x-trace-resets": String(job.trace_resets),
    "job-status": job.state,
  });
}

/** `GET /jobs/:id/artifacts/:type`. */
export async function getArtifact(pod: Pod, exchange: Exchange, id: number, type: string): Promise<void> {
  const artifact = await findArtifact(pod.database, id, type);
  if (artifact === undefined) throw new HttpError(404, `Job ${id} has no artifact "${type}"`);
  await sendArtifact(exchange, pod.artifacts, artifact);
}
