import type { Database } from "../database/database.ts";
import type { Capability } from "./capability.ts";
import { type ClaimedJob, claimJobs, type Slot } from "./claim-jobs.ts";
import { releaseJob } from "./enqueue-jobs.ts";

/** A job for one of the slots that were asked for. */
export interface SlotJob {
  /** The index of the slot. */
  readonly slot: number;
}

/** The source from which a queue takes its jobs. */
export interface JobSource<Job extends SlotJob> {
  /** Takes jobs for slots of one capability, at most one each. */
  readonly claim: (capability: Capability, slots: readonly Slot[]) => Promise<readonly Job[]>;
  /** Puts a job back that could not be handed over. */
  readonly release: (job: Job) => Promise<void>;
  /** Whether there is a job for anybody; asked now and then, in case a hint was lost. */
  readonly hasJobs: () => Promise<boolean>;
}

/** The pending jobs of a pod. */
export function pendingJobs(database: Database): JobSource<ClaimedJob> {
  return {
    claim: async (capability, slots) => await claimJobs(database, capability, slots),
    release: async (job) => await releasePending(database, job),
    async hasJobs() {
      const [row] = await database.query<{ some: boolean }>("SELECT EXISTS (SELECT FROM pending_jobs) AS some");
      return row?.some === true;
    },
  };
}

/** Puts a job of the pod back that could not be handed over. */
export async function releasePending(
  database: Database,
  { id, attempt }: Pick<ClaimedJob, "id" | "attempt">,
): Promise<void> {
  const isPending = await database.transaction(async (sql) => await releaseJob(sql, id, attempt));
  if (isPending) database.hint("queue");
}
