import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import { giveUp } from "../lifecycle/give-up.ts";
import { completePayload } from "../payload/complete-payload.ts";
import type { Pod } from "../pod/pod.ts";
import type { ClaimedJob } from "../queue/claim-jobs.ts";
import { releasePending } from "../queue/job-source.ts";
import { claimOffers } from "./claim-offers.ts";
import { CLAIM_ANSWERS, CLAIM_REQUESTS, type ClaimAnswer, type ClaimRequest } from "./messages.ts";

const MAX_BYTES = 1024 * 1024;
const MAX_CLAIMS = 64;

/** `POST /internal/v1/claims`: the second phase of a claim. The daemon has chosen; whether a job is given is decided here. */
export async function postClaims(pod: Pod, exchange: Exchange): Promise<void> {
  const { claims } = CLAIM_REQUESTS.read(await exchange.body(MAX_BYTES));
  if (claims.length > MAX_CLAIMS) throw new HttpError(413, `There are more than ${MAX_CLAIMS} claims`);
  const jobs = await claimOffers(pod.database, claims, pod.settings.leaseSeconds);
  const given = new Map<number, ClaimAnswer>();
  for (const job of jobs) {
    const answer = await answerOf(pod, job, claims[job.slot] as ClaimRequest);
    if (answer !== undefined) given.set(job.slot, answer);
  }
  pod.metrics.add("offer_claims_total", { outcome: "given" }, given.size);
  pod.metrics.add("offer_claims_total", { outcome: "gone" }, claims.length - given.size);
  if (!exchange.isOpen) {
    for (const job of jobs) await pod.queue.release(job);
    return;
  }
  exchange.json(200, CLAIM_ANSWERS.write({ claims: claims.map(({ job_id }, at) => given.get(at) ?? { job_id }) }));
}

async function answerOf(
  pod: Pod,
  job: ClaimedJob,
  { runner, manager_id }: ClaimRequest,
): Promise<ClaimAnswer | undefined> {
  try {
    const { json } = completePayload(pod, job, runner, manager_id);
    pod.metrics.add("jobs_assigned_total");
    pod.settings.log("info", "A job was given to a runner of the daemon", {
      job: job.id,
      attempt: job.attempt,
      runner: runner.id,
      manager: manager_id,
    });
    const payload = JSON.parse(json) as unknown;
    return { job_id: job.id, attempt: job.attempt, project_id: job.project_id, payload };
  } catch (error) {
    await giveUp(pod, job, error);
    return undefined;
  }
}

/** `POST /internal/v1/jobs/:id/release?attempt=N`: the runner had gone before it got the job. */
export async function postRelease(pod: Pod, exchange: Exchange, id: number): Promise<void> {
  const attempt = exchange.query.get("attempt") ?? "";
  if (!/^\d{1,9}$/.test(attempt)) throw new HttpError(400, "attempt: a number");
  await releasePending(pod.database, { id, attempt: Number(attempt) });
  pod.metrics.add("jobs_released_total");
  exchange.empty(204);
}
