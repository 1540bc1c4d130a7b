import { setTimeout as delay } from "node:timers/promises";
import { isStepsError } from "@steps/model";
import type { Log } from "@steps/model/operation";
import { STOPPING } from "@steps/runner-api";
import type { JobStateAnswer, RunnerApi } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import type { RunnerInfo } from "@steps/runner-api/messages";

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;
const NOT_YET = "Job is not acknowledged yet";

/** A job that the server gave us. */
export interface OfferedJob {
  readonly api: Pick<RunnerApi, "updateJob">;
  readonly payload: Pick<JobPayload, "id" | "token">;
  readonly info: RunnerInfo;
  readonly log: Log;
  /** The runner is about to end: the server offers the job to another one. */
  readonly signal: AbortSignal;
}

/** Whose a job is: ours to begin, ours to end since somebody cancels it, or not ours any more. */
export type Acknowledged = "ours" | "cancelled" | "not-ours";

/**
 * Tells the server that we have its job, until it says that it knows: only then the job begins here, so that no other runner can
 * have it too. A server that says that the job is being cancelled waits for us to tell its end.
 */
export async function acknowledge({ api, payload, info, log, signal }: OfferedJob): Promise<Acknowledged> {
  const { id, token } = payload;
  for (let retryMs = FIRST_RETRY_MS; !signal.aborted; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
    try {
      const answer = await api.updateJob(id, { token, info, state: "running" }, { signal });
      if (isOver(answer)) return "not-ours";
      if (answer.status === 200) return isStopping(answer) ? "cancelled" : "ours";
      log("warning", NOT_YET, { job: id, status: answer.status });
    } catch (error) {
      if (!isStepsError(error)) throw error;
      if (!signal.aborted) log("warning", NOT_YET, { job: id, reason: error.message });
    }
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
  }
  return "not-ours";
}

function isStopping({ jobStatus = "" }: JobStateAnswer): boolean {
  return (STOPPING.gracefully as readonly string[]).includes(jobStatus);
}

function isOver({ status, jobStatus = "" }: JobStateAnswer): boolean {
  return (
    (STOPPING.now as readonly string[]).includes(jobStatus) ||
    (status >= 400 && status < 500 && status !== 408 && status !== 429)
  );
}
