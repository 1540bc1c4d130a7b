import { HEADERS, MESSAGE_LIMITS } from "@steps/runner-api";
import { JOB_REQUEST } from "@steps/runner-api/messages";
import type { Exchange } from "../http/exchange.ts";
import { giveUp } from "../lifecycle/give-up.ts";
import { completePayload } from "../payload/complete-payload.ts";
import type { Pod } from "../pod/pod.ts";
import type { ClaimedJob } from "../queue/claim-jobs.ts";
import type { Runner } from "../runners/runner.ts";
import { accessRunner } from "./runner-access.ts";
import { contact, holdOf, waitForJob } from "./wait-for-job.ts";

/** `POST /jobs/request`: gives a job, at once or when there is one, or says that there is none. */
export async function requestJob(pod: Pod, exchange: Exchange): Promise<void> {
  const request = JOB_REQUEST.read(await exchange.body(MESSAGE_LIMITS.request));
  const { runner } = await accessRunner(pod, exchange, request.token);
  const managerId = await contact(pod, runner, request);
  if (runner.paused) return exchange.empty(204);
  const { job, ticket } = await waitForJob(pod, {
    exchange,
    request,
    runner,
    managerId,
    until: performance.now() + holdOf(pod),
  });
  if (job === undefined) return exchange.empty(204, { [HEADERS.lastUpdate]: ticket });
  await handOver(pod, exchange, job, runner, managerId);
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
    waited_seconds: Math.round(job.waited_s * 1000) / 1000,
  });
  exchange.json(201, json);
}
