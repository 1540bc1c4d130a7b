import { HEADERS, MESSAGE_LIMITS } from "@steps/runner-api";
import { formatStoredRange, parseContentRange, traceCrc } from "@steps/runner-api/trace";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import { type Job, lockJob } from "../jobs/job.ts";
import { finishJob } from "../lifecycle/finish-job.ts";
import type { Pod } from "../pod/pod.ts";
import { appendTrace, type PatchAnswer } from "../traces/append-trace.ts";
import type { TraceEnd } from "../traces/trace-store.ts";
import { accessJob, claimedAttempt, forbidden } from "./job-access.ts";
import { traceInterval } from "./trace-interval.ts";

const SCOPE = "trace:append";

/** `PATCH /jobs/:id/trace`: takes the next bytes of a trace. The start in `Content-Range` counts, the end is that of the body. */
export async function patchTrace(pod: Pod, exchange: Exchange, jobId: number): Promise<void> {
  const range = parseContentRange(exchange.headers["content-range"]);
  let bytes: Buffer | undefined;
  const attempt = claimedAttempt(pod, exchange, { jobId, scope: SCOPE });
  const end = attempt === undefined ? undefined : pod.traces.endOf(jobId, attempt);
  if (end !== undefined && end.trace_size === range?.start) {
    bytes = await exchange.body(MESSAGE_LIMITS.patch);
    const appended = await appendTo(pod, end, bytes);
    if (appended !== undefined) return tell(pod, exchange, jobId, { ...appended, status: 202, stored: bytes.length });
  }
  const { job } = await accessJob(pod, exchange, { jobId, scope: SCOPE });
  if (range === undefined)
    throw new HttpError(400, "400 Bad Request: Content-Range: START-END is missing", {
      range: formatStoredRange(job.trace_size),
      [HEADERS.jobStatus]: job.state,
    });
  bytes ??= await exchange.body(MESSAGE_LIMITS.patch);
  // A start behind the end is a gap, however far behind it is; only bytes that would be stored can be too many.
  const isTooMuch = range.start <= job.trace_size && range.start + bytes.length > pod.settings.traceLimit;
  if (isTooMuch) return await refuse(pod, job);
  const answer = await appendTrace(pod.database, pod.traces, job, { start: range.start, bytes });
  if (answer.status === 403) throw forbidden(answer.state === "assigned" ? "canceled" : answer.state);
  const stored = Math.max(0, answer.size - job.trace_size);
  tell(pod, exchange, jobId, { ...answer, status: answer.status, stored });
}

/** The answer to a patch, and how many of its bytes were stored. */
type Told = PatchAnswer & { readonly status: 202 | 416; readonly stored: number };

function tell(pod: Pod, exchange: Exchange, jobId: number, { status, size, state, stored }: Told): void {
  pod.metrics.add("trace_bytes_total", {}, stored);
  exchange.text(status, status === 202 ? "Accepted" : "Range Not Satisfiable", {
    range: formatStoredRange(size),
    [HEADERS.jobStatus]: state,
    [HEADERS.traceInterval]: traceInterval(pod, jobId),
  });
}

/** Appends without a look at the job, as most patches go. Undefined when only a look can tell what becomes of the bytes; nothing has happened then. */
async function appendTo(pod: Pod, end: TraceEnd, bytes: Buffer): Promise<Omit<PatchAnswer, "status"> | undefined> {
  const size = end.trace_size + bytes.length;
  if (bytes.length === 0 || size > pod.settings.traceLimit) return undefined;
  const state = await pod.traces.append({ ...end, bytes, crc: traceCrc(bytes, end.trace_crc) });
  return state === undefined ? undefined : { size, state };
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
