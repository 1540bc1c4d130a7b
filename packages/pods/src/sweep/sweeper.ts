import { messageOf } from "@steps/model";
import type { Sql } from "../database/database.ts";
import { keepUp } from "../database/upkeep.ts";
import { lockJob } from "../jobs/job.ts";
import type { Pod } from "../pod/pod.ts";
import { enqueueJobs } from "../queue/enqueue-jobs.ts";
import { type Ending, finishJob } from "../lifecycle/finish-job.ts";
import { playJob } from "../lifecycle/retry.ts";
import { ClockFollower } from "./follow-clock.ts";
import { removeArtifacts, tidyArtifacts } from "./remove-artifacts.ts";
import { removePipelines } from "./remove-old.ts";

const EVERY_MS = 2_000;
const TIDY_EVERY_MS = 60_000;
/** Soon enough for a queue that has just become long. */
const KEEP_UP_EVERY_MS = 10_000;
/** The most jobs that one sweep takes of each kind. */
const BATCH = 500;
/** How often a job is given out before it fails for want of a runner that confirms it. */
const MAX_OFFERS = 3;
/** The time that a runner has to report the end of its own timeout. */
const TIMEOUT_GRACE_SECONDS = 60;
const PENDING_LIMIT = "24 hours";

/** Does what nobody calls for: leases that expired, jobs of runners that fell silent, timeouts, delays, what is kept long enough. Any number of processes may. */
export class Sweeper {
  readonly #pod: Pod;
  readonly #timer: NodeJS.Timeout;
  readonly #clock = new ClockFollower();
  #running: Promise<void> | undefined;
  #tidiedAt = Number.NEGATIVE_INFINITY;
  #keptUpAt = performance.now();

  constructor(pod: Pod) {
    this.#pod = pod;
    this.#timer = setInterval(() => {
      this.#running ??= this.sweep().finally(() => (this.#running = undefined));
    }, EVERY_MS).unref();
  }

  /** Ends after the sweep that is under way. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One round. A part that fails is told, and done in the next round. */
  async sweep(): Promise<void> {
    const isTimeToTidy = performance.now() - this.#tidiedAt >= TIDY_EVERY_MS;
    if (isTimeToTidy) this.#tidiedAt = performance.now();
    const tidying = isTimeToTidy ? [removePipelines, tidyArtifacts] : [];
    const isTimeToKeepUp = performance.now() - this.#keptUpAt >= KEEP_UP_EVERY_MS;
    if (isTimeToKeepUp) this.#keptUpAt = performance.now();
    const upkeep = isTimeToKeepUp ? [keepUp] : [];
    // First, so that nothing ends by a time that was never over.
    const followClock = async ({ database, settings }: Pod): Promise<void> => {
      const seconds = await this.#clock.look(database);
      if (seconds !== undefined)
        settings.log("warning", "The clock was set, and the times of jobs with it", { seconds });
    };
    for (const work of [
      followClock,
      reofferJobs,
      failJobs,
      startDelayed,
      removeArtifacts,
      refreshKeys,
      ...tidying,
      ...upkeep,
    ]) {
      try {
        await work(this.#pod);
      } catch (error) {
        this.#pod.settings.log("warning", "The sweep could not do its part", {
          part: work.name,
          reason: messageOf(error),
        });
      }
    }
    this.#pod.metrics.add("sweeps_total");
  }
}

/** Puts jobs back whose runner did not confirm them in time. Whoever comes late with the old token is refused. */
async function reofferJobs(pod: Pod): Promise<void> {
  const { database } = pod;
  const due = await database.query<{ id: number }>(
    `SELECT id FROM jobs WHERE state = 'assigned' AND lease_expires_at < now() ORDER BY id LIMIT ${BATCH}`,
  );
  for (const { id } of due) {
    const outcome = await database.transaction(async (sql) => {
      const job = await lockJob(sql, id);
      const [row] = await sql.query<{ offers: number }>(
        "SELECT offers FROM jobs WHERE id = $1 AND state = 'assigned' AND lease_expires_at < now()",
        [id],
      );
      if (job === undefined || row === undefined) return undefined;
      if (row.offers >= MAX_OFFERS) {
        await finishJob(sql, job, { state: "failed", reason: "runner_provisioning_timeout" });
        return "failed";
      }
      await sql.query(
        "UPDATE jobs SET state = 'pending', lease_expires_at = NULL, runner_id = NULL, manager_id = NULL WHERE id = $1",
        [id],
      );
      await sql.query("DELETE FROM active_jobs WHERE job_id = $1", [id]);
      await enqueueJobs(sql, [id]);
      return "pending";
    });
    if (outcome === undefined) continue;
    if (outcome === "pending") pod.metrics.add("jobs_reoffered_total");
    else pod.metrics.add("jobs_ended_total", { state: "failed" });
    pod.settings.log("warning", "A runner did not confirm a job in time", { job: id, now: outcome });
    database.hint("queue");
  }
}

const IS_OVERDUE = `started_at + make_interval(secs => granted_timeout_s + ${TIMEOUT_GRACE_SECONDS}) < now()`;
const IS_GIVEN_UP = `(state IN ('running', 'canceling') AND (seen_at < now() - make_interval(secs => $1) OR ${IS_OVERDUE})
   OR id IN (SELECT job_id FROM pending_jobs WHERE queued_at < now() - interval '${PENDING_LIMIT}'))`;

/** Ends jobs of runners that were silent for too long, or beyond their timeout, and jobs that nobody takes. */
async function failJobs(pod: Pod): Promise<void> {
  const { database, settings } = pod;
  const due = await database.query<{ id: number }>(
    `SELECT id FROM jobs WHERE ${IS_GIVEN_UP} ORDER BY id LIMIT ${BATCH}`,
    [settings.silenceSeconds],
  );
  for (const { id } of due) {
    const ended = await database.transaction(async (sql) => await failJob(sql, id, settings.silenceSeconds));
    if (ended === undefined) continue;
    const { state, reason, isQueued } = ended;
    if (isQueued) database.hint("queue");
    pod.metrics.add("jobs_ended_total", { state });
    settings.log("warning", "A job was ended", { job: id, state, reason });
  }
}

async function failJob(
  sql: Sql,
  id: number,
  silenceSeconds: number,
): Promise<(Ending & { readonly isQueued: boolean }) | undefined> {
  await sql.query("SELECT FROM pending_jobs WHERE job_id = $1 FOR UPDATE", [id]);
  const job = await lockJob(sql, id);
  // After an outage many are due at once, and their runners call again while one after the other is ended.
  const [row] = await sql.query<{ reason: string }>(
    `SELECT CASE WHEN state <> 'pending' AND ${IS_OVERDUE} THEN 'job_execution_timeout' ELSE 'stuck_or_timeout_failure' END AS reason
     FROM jobs WHERE id = $2 AND ${IS_GIVEN_UP}`,
    [silenceSeconds, id],
  );
  if (job === undefined || row === undefined) return undefined;
  const ending: Ending = { state: job.state === "canceling" ? "canceled" : "failed", reason: row.reason };
  return { ...ending, isQueued: await finishJob(sql, job, ending) };
}

async function startDelayed({ database }: Pod): Promise<void> {
  const due = await database.query<{ id: number }>(
    `SELECT id FROM jobs WHERE state = 'scheduled' AND due_at < now() ORDER BY id LIMIT ${BATCH}`,
  );
  for (const { id } of due) {
    await database.transaction(async (sql) => await playJob(sql, id));
    database.hint("queue");
  }
}

async function refreshKeys({ keys }: Pod): Promise<void> {
  await keys.refresh();
}
