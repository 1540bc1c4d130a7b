import { HEADERS, MESSAGE_LIMITS } from "@steps/runner-api";
import { JOB_REQUEST, type JobRequest } from "@steps/runner-api/messages";
import { messageOf } from "@steps/model";
import { HttpError } from "../http/http-error.ts";
import type { Exchange } from "../http/exchange.ts";
import { lockJob } from "../jobs/job.ts";
import { finishJob } from "../lifecycle/finish-job.ts";
import { completePayload } from "../payload/complete-payload.ts";
import type { Pod } from "../pod/pod.ts";
import type { ClaimedJob } from "../queue/claim-jobs.ts";
import { capabilityOf, type Runner } from "../runners/runner.ts";
import { accessRunner } from "./runner-access.ts";

/** The most requests of one machine, and of all, that this process holds at once. */
const MAX_HELD_PER_MANAGER = 100;
const MAX_HELD = 20_000;
/** The system id of clients that have none, in GitLab's words. */
const LEGACY = "<legacy>";

/** `POST /jobs/request`: gives a job, at once or when there is one, or says that there is none. */
export async function requestJob(pod: Pod, exchange: Exchange): Promise<void> {
  const request = JOB_REQUEST.read(await exchange.body(MESSAGE_LIMITS.request));
  const { runner } = await accessRunner(pod, exchange, request.token);
  const systemId = (request.system_id ?? "").slice(0, 64);
  const managerId = await pod.managers.contact(pod.database, runner.id, systemId || LEGACY, request.info);
  if (runner.paused) return exchange.empty(204);
  const { job, ticket } = await wait(pod, exchange, request, runner, managerId);
  if (job === undefined) return exchange.empty(204, { [HEADERS.lastUpdate]: ticket });
  await handOver(pod, exchange, job, runner, managerId);
}

async function wait(
  pod: Pod,
  exchange: Exchange,
  { info, last_update: ticket }: JobRequest,
  runner: Runner,
  managerId: number,
): Promise<Awaited<ReturnType<Pod["queue"]["wait"]>>> {
  const { leaseSeconds, pollHoldMs } = pod.settings;
  if (pod.queue.waiting >= MAX_HELD || pod.queue.waitingOf(managerId) >= MAX_HELD_PER_MANAGER)
    throw new HttpError(429, "429 Too Many Requests", { [HEADERS.retryAfter]: "10" });
  // Runners that ask again should not all do so in the same moment.
  const holdMs = pollHoldMs * (0.9 + Math.random() * 0.2);
  const confirms = info.features["two_phase_job_commit"] === true;
  const slot = {
    runnerId: runner.id,
    runnerVersion: runner.version,
    managerId,
    leaseSeconds: confirms ? leaseSeconds : leaseSeconds * 2,
    cancelsGracefully: info.features["cancel_gracefully"] === true,
  };
  return await pod.queue.wait({
    capability: capabilityOf(runner, info.features),
    slot,
    ticket,
    holdMs,
    signal: exchange.left,
  });
}

async function handOver(
  pod: Pod,
  exchange: Exchange,
  job: ClaimedJob,
  runner: Runner,
  managerId: number,
): Promise<void> {
  let json: string;
  try {
    ({ json } = completePayload(pod, job, runner, managerId));
  } catch (error) {
    await giveUp(pod, job, error);
    // Another job may be there: a ticket that nobody has makes the runner ask for it.
    return exchange.empty(204, { [HEADERS.lastUpdate]: "0" });
  }
  if (!exchange.isOpen) {
    pod.metrics.add("jobs_released_total");
    return await pod.queue.release(job);
  }
  pod.metrics.add("jobs_assigned_total");
  pod.settings.log("info", "A job was given to a runner", {
    job: job.id,
    attempt: job.attempt,
    runner: runner.id,
    manager: managerId,
    waitedSeconds: Math.round(job.waited_s * 1000) / 1000,
  });
  exchange.json(201, json);
}

/** Ends a job that cannot be handed to anybody, so that it does not stand in the way of others. */
async function giveUp(pod: Pod, { id, attempt }: ClaimedJob, error: unknown): Promise<void> {
  pod.settings.log("error", "The payload of a job cannot be written", { job: id, error: messageOf(error) });
  const isQueued = await pod.database.transaction(async (sql) => {
    const job = await lockJob(sql, id);
    return job?.attempt === attempt && (await finishJob(sql, job, { state: "failed", reason: "scheduler_failure" }));
  });
  if (isQueued) pod.database.hint("queue");
  pod.metrics.add("jobs_ended_total", { state: "failed" });
}
