import { HEADERS, MESSAGE_LIMITS } from "@steps/runner-api";
import { JOB_UPDATE } from "@steps/runner-api/messages";
import type { Exchange } from "../http/exchange.ts";
import { isFinal, type Job } from "../jobs/job.ts";
import { type UpdateAnswer, updateJob } from "../lifecycle/update-job.ts";
import type { Pod } from "../pod/pod.ts";
import { appendTrace } from "../traces/append-trace.ts";
import { accessJob, forbidden } from "./job-access.ts";
import { traceInterval } from "./trace-interval.ts";

/** `PUT /jobs/:id`: takes the state of a job from its runner. */
export async function putJob(pod: Pod, exchange: Exchange, jobId: number): Promise<void> {
  const update = JOB_UPDATE.read(await exchange.body(MESSAGE_LIMITS.update));
  const isEnd = update.state === "success" || update.state === "failed";
  const { job } = await accessJob(pod, exchange, {
    jobId,
    scope: "job:update",
    bodyToken: update.token,
    allowsEnded: isEnd,
  });
  if (isEnd && update.trace !== undefined) await takeWholeTrace(pod, job, update.trace);
  const answer = await updateJob(pod.database, job, update, pod.settings.leaseSeconds);
  if (answer.isQueued) pod.database.hint("queue");
  tell(pod, job, answer);
  if (answer.status === 403) throw forbidden(answer.state);
  exchange.text(answer.status, String(answer.status), {
    [HEADERS.jobStatus]: answer.state,
    [HEADERS.traceInterval]: traceInterval(pod, jobId),
  });
}

/** Clients from before patches send the trace with the last update. */
async function takeWholeTrace(pod: Pod, job: Job, trace: string): Promise<void> {
  const bytes = Buffer.from(trace).subarray(0, pod.settings.traceLimit);
  if (job.trace_size === 0 && bytes.length > 0) await appendTrace(pod.database, pod.traces, job, { start: 0, bytes });
}

function tell(pod: Pod, job: Job, { status, state }: UpdateAnswer): void {
  if (status === 412) pod.metrics.add("trace_resends_total");
  if (status !== 200 || !isFinal(state) || isFinal(job.state)) return;
  pod.metrics.add("jobs_ended_total", { state });
  pod.settings.log("info", "A job ended", { job: job.id, attempt: job.attempt, state });
}
