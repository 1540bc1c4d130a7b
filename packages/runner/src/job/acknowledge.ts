import { setTimeout as delay } from "node:timers/promises";
import { isStepsError } from "@steps/model";
import { STOPPING } from "@steps/runner-api";
import type { JobStateAnswer, RunnerApi } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import type { RunnerInfo } from "@steps/runner-api/messages";

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;

/** A job that the server gave us. */
export interface OfferedJob {
  readonly api: Pick<RunnerApi, "updateJob">;
  readonly payload: Pick<JobPayload, "id" | "token">;
  readonly info: RunnerInfo;
  readonly warn: (text: string) => void;
  /** The runner is about to end: the server offers the job to another one. */
  readonly signal: AbortSignal;
}

/**
 * Tells the server that we have its job, until it says that it knows: only then the job begins here, so that no other runner can
 * have it too. Gives `false` for a job that is not ours any more.
 */
export async function acknowledge({ api, payload, info, warn, signal }: OfferedJob): Promise<boolean> {
  const { id, token } = payload;
  for (let retryMs = FIRST_RETRY_MS; !signal.aborted; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
    try {
      const answer = await api.updateJob(id, { token, info, state: "running" }, { signal });
      if (isOver(answer)) return false;
      if (answer.status === 200) return true;
      warn(`Job ${id} is not acknowledged yet: the server answered ${answer.status}`);
    } catch (error) {
      if (!isStepsError(error)) throw error;
      if (!signal.aborted) warn(`Job ${id} is not acknowledged yet: ${error.message}`);
    }
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

function isOver({ status, jobStatus = "" }: JobStateAnswer): boolean {
  const stops: readonly string[] = [...STOPPING.now, ...STOPPING.gracefully];
  return stops.includes(jobStatus) || (status >= 400 && status < 500 && status !== 408 && status !== 429);
}
