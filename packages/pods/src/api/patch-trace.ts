import { HEADERS, MESSAGE_LIMITS } from "@steps/runner-api";
import { formatStoredRange, parseContentRange } from "@steps/runner-api/trace";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import { type Job, lockJob } from "../jobs/job.ts";
import { finishJob } from "../lifecycle/finish-job.ts";
import type { Pod } from "../pod/pod.ts";
import { appendTrace } from "../traces/append-trace.ts";
import { accessJob, forbidden } from "./job-access.ts";
import { traceInterval } from "./trace-interval.ts";

/** `PATCH /jobs/:id/trace`: takes the next bytes of a trace. The start in `Content-Range` counts, the end is that of the body. */
export async function patchTrace(pod: Pod, exchange: Exchange, jobId: number): Promise<void> {
  const { job } = await accessJob(pod, exchange, { jobId, scope: "trace:append" });
  const range = parseContentRange(exchange.headers["content-range"]);
  if (range === undefined)
    throw new HttpError(400, "400 Bad Request: Content-Range: START-END is missing", {
      range: formatStoredRange(job.trace_size),
      [HEADERS.jobStatus]: job.state,
    });
  const bytes = await exchange.body(MESSAGE_LIMITS.patch);
  // A start behind the end is a gap, however far behind it is; only bytes that would be stored can be too many.
  const isTooMuch = range.start <= job.trace_size && range.start + bytes.length > pod.settings.traceLimit;
  if (isTooMuch) return await refuse(pod, job);
  const answer = await appendTrace(pod.database, pod.traces, job, { start: range.start, bytes });
  if (answer.status === 403) throw forbidden(answer.state === "assigned" ? "canceled" : answer.state);
  pod.metrics.add("trace_bytes_total", {}, Math.max(0, answer.size - job.trace_size));
  exchange.text(answer.status, answer.status === 202 ? "Accepted" : "Range Not Satisfiable", {
    range: formatStoredRange(answer.size),
    [HEADERS.jobStatus]: answer.state,
    [HEADERS.traceInterval]: traceInterval(pod, jobId),
  });
}

/** Ends a job whose trace has become too large. */
async function refuse(pod: Pod, { id, attempt }: Job): Promise<never> {
  const isQueued = await pod.database.transaction(async (sql) => {
    const job = await lockJob(sql, id);
    if (job?.attempt !== attempt || (job.state !== "running" && job.state !== "assigned")) return false;
    return await finishJob(sql, job, { state: "failed", reason: "trace_size_exceeded" });
  });
  if (isQueued) pod.database.hint("queue");
  pod.metrics.add("jobs_ended_total", { state: "failed" });
  throw forbidden("failed");
}
