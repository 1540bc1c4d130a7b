import { randomBytes, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EngineError, type EngineOptions } from "@steps/engine";
import { MAX_TIMER_MS, messageOf } from "@steps/model";
import type { Log } from "@steps/model/operation";
import type { JobHandle, JobSubmission, JobTable } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";
import { prepareWorkDir } from "./prepare-work-dir.ts";
import { createEngineJob, type EngineJob } from "./engine-job.ts";
import { collectGarbage } from "@steps/platform/runtime";
import { createJobFolder, discard, folderNameOf, removeTree } from "./job-folder.ts";
import { JobEvents } from "./job-events.ts";
import { EMPTY_LOG } from "./job-log.ts";
import type { Folders, JobLimits } from "./open-job-table.ts";
import { runTableJob } from "./run-table-job.ts";
import { TableJob } from "./table-job.ts";
import type { Tombstones } from "./tombstones.ts";

export interface JobTableParts {
  readonly folders: Folders;
  readonly jobs: readonly TableJob[];
  readonly tombstones: Tombstones;
  readonly runner: { readonly name: string; readonly version: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: () => number;
  readonly log: Log;
  readonly unlock: () => void;
  readonly limits: JobLimits;
  readonly graceMs: number;
  readonly engine: Omit<EngineOptions, "stateDir">;
}

/** A job that is closed has this long beyond its grace before it is hurried. */
const CLOSE_EXTRA_MS = 500;
const REST_AFTER_MS = 1000;

/** See `JobTable`. */
export class ServiceJobTable implements JobTable {
  readonly instance: string = randomUUID();
  readonly runner: JobTable["runner"];
  readonly #parts: JobTableParts;
  readonly #jobs = new Map<string, TableJob>();
  readonly #closing = new Map<TableJob, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;
  readonly #events: JobEvents;
  #isDraining = false;
  #isDisposed = false;

  constructor(parts: JobTableParts) {
    this.#parts = parts;
    this.#events = new JobEvents(parts.log);
    this.runner = parts.runner;
    for (const job of parts.jobs) this.#jobs.set(job.id, job);
    this.#expire();
  }

  run(submission: JobSubmission): JobHandle {
    try {
      return this.#run(submission);
    } catch (error) {
      this.#events.refused(submission.id, error);
      throw error;
    }
  }

  #run(submission: JobSubmission): JobHandle {
    const known = this.#jobs.get(submission.id);
    if (known !== undefined) return this.#repeat(known, submission);
    if (submission.refusesOtherRequest && this.#parts.tombstones.has(submission.id, submission.requestDigest))
      throw jobClosed(submission.id);
    this.#assertRoom();
    prepareWorkDir(submission.job.workDir);
    const { job, engineJob } = this.#create(submission);
    this.#jobs.set(job.id, job);
    this.#events.started(job);
    // Before anybody who waits for it learns of the end.
    void job.ended.then(() => this.#events.ended(job));
    job.signals.cancelled.addEventListener("abort", () => this.#events.cancelled(job), { once: true });
    void this.#start(job, engineJob);
    return job;
  }

  get(id: string): JobHandle | undefined {
    return this.#jobs.get(id);
  }

  list(): readonly TableJob[] {
    return [...this.#jobs.values()];
  }

  drain(): void {
    this.#isDraining = true;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  metrics(): string {
    const jobs = this.list();
    const running = jobs.filter((job) => !job.isEnded).length;
    const { maxJobs } = this.#parts.limits;
    return this.#events.format({ running, ended: jobs.length - running, maxJobs, isDraining: this.#isDraining });
  }

  async close(id: string): Promise<void> {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    let closing = this.#closing.get(job);
    if (closing === undefined) {
      closing = this.#close(job).finally(() => this.#closing.delete(job));
      this.#closing.set(job, closing);
    }
    await closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#isDraining = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#rest);
    for (const job of this.#jobs.values()) job.cancel();
    await Promise.all([...this.#jobs.values()].map((job) => job.ended));
    await Promise.allSettled(this.#closing.values());
    clearTimeout(this.#timer);
    this.#parts.unlock();
  }

  #repeat(job: TableJob, { id, requestDigest, refusesOtherRequest }: JobSubmission): JobHandle {
    if (!refusesOtherRequest) return job;
    if (job.requestDigest !== requestDigest) {
      throw new ServiceError("JOB_EXISTS", `Cannot run job ${JSON.stringify(id)}: another request has this id`);
    }
    if (this.#closing.has(job)) throw jobClosed(id);
    return job;
  }

  #assertRoom(): void {
    const { maxJobs } = this.#parts.limits;
    if (this.#isDraining)
      throw new ServiceError("SERVICE_DRAINING", "Cannot run a job: the service drains and takes no new jobs", {
        hint: "Try again when the service has been started again, or use another one.",
      });
    const running = this.list().filter((job) => !job.isEnded);
    if (running.length < maxJobs) return;
    throw new ServiceError("TOO_MANY_JOBS", `Cannot run a job: ${maxJobs} run already`, {
      hint: "Try again when one of them has ended.",
    });
  }

  /** The job with its folder, before anything of it runs. */
  #create(submission: JobSubmission): { readonly job: TableJob; readonly engineJob: EngineJob } {
    const { folders, env, graceMs, limits } = this.#parts;
    const { id, requestDigest, tokenDigest } = submission;
    const folder = join(folders.jobs, folderNameOf(id));
    const job = new TableJob(
      folder,
      {
        id,
        serial: randomBytes(8).toString("hex"),
        requestDigest,
        status: "running",
        startedAt: Date.now(),
        log: EMPTY_LOG,
        tokenDigest,
      },
      submission.graceMs,
    );
    try {
      this.#clear(folder);
      createJobFolder(folder, job.record);
      const { maxLogBytes } = limits;
      const engineJob = createEngineJob(submission, { env, folder, graceMs, maxLogBytes, hurry: job.signals.hurry });
      return { job, engineJob };
    } catch (cause) {
      removeTree(folder);
      if (cause instanceof EngineError) throw new ServiceError("REQUEST_INVALID", cause.message, { hint: cause.hint });
      throw new ServiceError("STATE_UNUSABLE", `Cannot keep a job in the state directory: ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  /** An earlier job's folder that could not be removed. */
  #clear(folder: string): void {
    if (statSync(folder, { throwIfNoEntry: false }) !== undefined) discard(folder, this.#parts.folders.trash);
  }

  async #start(job: TableJob, engineJob: EngineJob): Promise<void> {
    const { engine, clock, limits, log } = this.#parts;
    await runTableJob(job, engineJob, { engine, clock, log, maxLogBytes: limits.maxLogBytes });
    this.#expire();
    this.#restSoon();
  }

  /** When nothing runs for a while, the memory of what ran is given back. */
  #restSoon(): void {
    clearTimeout(this.#rest);
    if (this.#isDisposed || this.list().some((job) => !job.isEnded)) return;
    this.#rest = setTimeout(() => {
      if (this.list().every((job) => job.isEnded)) collectGarbage();
    }, REST_AFTER_MS).unref();
  }

  async #close(job: TableJob): Promise<void> {
    job.cancel();
    const { graceMs = this.#parts.graceMs } = job;
    const stop = new AbortController();
    const late = sleep(Math.min(graceMs + CLOSE_EXTRA_MS, MAX_TIMER_MS), undefined, {
      signal: stop.signal,
      ref: false,
    });
    await Promise.race([job.ended, late]);
    stop.abort();
    await late.catch(() => {});
    job.hurry();
    await job.ended;
    this.#remove(job, "closed");
  }

  /** Forgets a job that ended, and removes its files. The tombstone first: a kill in between leaves no job that runs again. */
  #remove(job: TableJob, why: "closed" | "expired"): void {
    const { tombstones, folders, log } = this.#parts;
    job.markRemoved();
    if (this.#jobs.get(job.id) === job) this.#jobs.delete(job.id);
    for (const take of [() => tombstones.add(job), () => discard(job.folder, folders.trash)]) {
      try {
        take();
      } catch (cause) {
        log("error", "Cannot forget a job on disk", { job: job.id, reason: messageOf(cause) });
      }
    }
    this.#events.removed(job, why);
  }

  /** Removes what was kept long enough, and looks again when the next one is due. */
  #expire(): void {
    clearTimeout(this.#timer);
    const { retentionMs, maxFinished } = this.#parts.limits;
    const finished = [...this.#jobs.values()]
      .filter((job) => job.isEnded && !this.#closing.has(job))
      .toSorted((a, b) => a.finishedAt - b.finishedAt);
    const now = Date.now();
    const kept = finished.filter((job, index) => {
      const isKept = index >= finished.length - maxFinished && now - job.finishedAt < retentionMs;
      if (!isKept) this.#remove(job, "expired");
      return isKept;
    });
    const next = kept[0];
    if (next === undefined || this.#isDisposed) return;
    const dueMs = Math.min(Math.max(next.finishedAt + retentionMs - now, 1), MAX_TIMER_MS);
    this.#timer = setTimeout(() => this.#expire(), dueMs).unref();
  }
}

function jobClosed(id: string): ServiceError {
  return new ServiceError(
    "JOB_CLOSED",
    `Cannot run job ${JSON.stringify(id)}: this request was run, and its job closed or expired`,
  );
}
