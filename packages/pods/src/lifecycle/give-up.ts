import { messageOf } from "@steps/model";
import { lockJob } from "../jobs/job.ts";
import type { Pod } from "../pod/pod.ts";
import type { ClaimedJob } from "../queue/claim-jobs.ts";
import { finishJob } from "./finish-job.ts";

/** Ends a job that cannot be handed to anybody, so that it does not stand in the way of others. */
export async function giveUp(pod: Pod, { id, attempt }: ClaimedJob, error: unknown): Promise<void> {
  pod.settings.log("error", "The payload of a job cannot be written", { job: id, reason: messageOf(error) });
  const isQueued = await pod.database.transaction(async (sql) => {
    const job = await lockJob(sql, id);
    return job?.attempt === attempt && (await finishJob(sql, job, { state: "failed", reason: "scheduler_failure" }));
  });
  if (isQueued) pod.database.hint("queue");
  pod.metrics.add("jobs_ended_total", { state: "failed" });
}
