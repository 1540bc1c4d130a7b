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

/**
 * Tells the server that we have its job, until it says that it knows: only then the job begins here, so that no other runner can
 * have it too. Gives `false` for a job that is not ours any more.
 */
export async function acknowledge({ api, payload, info, log, signal }: OfferedJob): Promise<boolean> {
  const { id, token } = payload;
  for (let retryMs = FIRST_RETRY_MS; !signal.aborted; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
    try {
      const answer = await api.updateJob(id, { token, info, state: "running" }, { signal });
      if (isOver(answer)) return false;
      if (answer.status === 200) return true;
      log("warning", NOT_YET, { job: id, status: answer.status });
    } catch (error) {
      if (!isStepsError(error)) throw error;
      if (!signal.aborted) log("warning", NOT_YET, { job: id, reason: error.message });
    }
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

function isOver({ status, jobStatus = "" }: JobStateAnswer): boolean {
  const stops: readonly string[] = [...STOPPING.now, ...STOPPING.gracefully];
  return stops.includes(jobStatus) || (status >= 400 && status < 500 && status !== 408 && status !== 429);
}
