import type { JobUpdate } from "@steps/runner-api/messages";
import { parseChecksum } from "@steps/runner-api/trace";
import type { Database, Sql } from "../database/database.ts";
import { type Job, type JobState, isFinal, isInHand, lockJob } from "../jobs/job.ts";
import { acceptJob, extendLease } from "../jobs/accept-job.ts";
import { exitCodeOf } from "../jobs/exit-code.ts";
import { type Ending, finishJob } from "./finish-job.ts";

/** The answer to a runner's update: 200; 400 for a state that there is none of; 403 to stop; 412 to send the whole trace again. */
export interface UpdateAnswer {
  readonly status: 200 | 400 | 403 | 412;
  readonly state: JobState;
  /** Jobs were added to the queue. */
  readonly isQueued: boolean;
}

/** How often a runner is asked to send a trace again that does not arrive as it says. */
const MAX_TRACE_RESETS = 2;

/** Takes an update of the attempt's runner. */
export async function updateJob(
  database: Database,
  job: Job,
  update: JobUpdate,
  leaseSeconds: number,
): Promise<UpdateAnswer> {
  switch (update.state) {
    case undefined:
      return answer(isInHand(job.state) ? 200 : 403, job.state);
    case "running":
      return alive(job, await acceptJob(database, job.id, job.attempt));
    case "pending":
      return alive(job, await extendLease(database, job.id, job.attempt, leaseSeconds));
    case "success":
    case "failed":
      return await database.transaction(async (sql) => await takeEnd(sql, job, update));
    default:
      return answer(400, job.state);
  }
}

function answer(status: UpdateAnswer["status"], state: JobState, isQueued = false): UpdateAnswer {
  return { status, state, isQueued };
}

function alive(job: Job, state: JobState | undefined): UpdateAnswer {
  return state === undefined ? answer(403, job.state) : answer(200, state);
}

async function takeEnd(sql: Sql, { id, attempt }: Job, update: JobUpdate): Promise<UpdateAnswer> {
  const job = await lockJob(sql, id);
  if (job === undefined) return answer(403, "failed");
  if (job.attempt !== attempt) return answer(403, "canceled");
  // The answer may have been lost; the runner says the same again.
  if (isFinal(job.state)) return answer(job.state === update.state ? 200 : 403, job.state);
  if (!isInHand(job.state)) return answer(403, "canceled");
  const isTraceDamaged = differs(job, update);
  if (isTraceDamaged && job.trace_resets < MAX_TRACE_RESETS && update.info.features["trace_reset"] === true) {
    await sql.query(
      "UPDATE jobs SET trace_size = 0, trace_crc = 0, trace_resets = trace_resets + 1, seen_at = now() WHERE id = $1",
      [id],
    );
    return answer(412, job.state);
  }
  await acceptJob(sql, id, attempt);
  const ending = endingOf(job, update, isTraceDamaged);
  return answer(200, ending.state, await finishJob(sql, job, ending));
}

function differs(job: Job, { output, checksum }: JobUpdate): boolean {
  const crc = parseChecksum(output?.checksum ?? checksum);
  if (output !== undefined && output.bytesize > 0 && output.bytesize !== job.trace_size) return true;
  return crc !== undefined && crc !== job.trace_crc;
}

function endingOf(job: Job, update: JobUpdate, isTraceDamaged: boolean): Ending {
  const exitCode = update.exit_code === undefined ? undefined : exitCodeOf(update.exit_code);
  if (job.state === "canceling") return { state: "canceled", exitCode, isTraceDamaged };
  if (update.state === "success") return { state: "success", exitCode, isTraceDamaged };
  return { state: "failed", reason: reasonOf(update.failure_reason), exitCode, isTraceDamaged };
}

// It stands in conditions and metrics, so that it is a word whatever a client sends.
function reasonOf(reason: string | undefined): string {
  return reason !== undefined && /^[a-z][a-z_]{0,60}$/.test(reason) ? reason : "unknown_failure";
}
