import { setTimeout as delay } from "node:timers/promises";
import { reasonFor, STOPPING } from "@steps/runner-api";
import type { JobStateAnswer, RunnerApi } from "@steps/runner-api/client";
import { isStepsError } from "@steps/model";
import type { Log } from "@steps/model/operation";
import type { JobPayload } from "@steps/runner-api/job";
import type { JobUpdate, RunnerInfo } from "@steps/runner-api/messages";
import { formatChecksum } from "@steps/runner-api/trace";
import type { JobEnd } from "../job-end.ts";
import type { TraceFile } from "./trace-file.ts";

/** A job whose server is told how it does. */
export interface UploadedJob {
  readonly api: Pick<RunnerApi, "patchTrace" | "updateJob">;
  readonly payload: Pick<JobPayload, "id" | "token" | "features">;
  readonly info: RunnerInfo;
  readonly trace: Pick<TraceFile, "size" | "crc" | "read" | "onChange">;
  /** The server wants the job to end: by itself after what it does when cancelled, or at once. */
  readonly onStop: (how: "gracefully" | "now") => void;
  /** Takes what goes wrong with the uploads. */
  readonly log: Log;
}

/** The times of an upload, in milliseconds. Tests have shorter ones. */
export interface UploadPace {
  /** Before the first patch, and between patches until the server says otherwise. */
  readonly intervalMs: number;
  /** A server that has heard nothing for so long is told that the job runs; sooner where it wants patches more often. */
  readonly keepAliveMs: number;
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
}

/** The times of gitlab-runner. */
const DEFAULT_PACE: UploadPace = {
  intervalMs: 3000,
  keepAliveMs: 30_000,
  firstRetryMs: 1000,
  longestRetryMs: 60_000,
};

const LONGEST_INTERVAL_MS = 15 * 60_000;
/** How often an end is told that the server does not take; as gitlab-runner has it. */
const MAX_END_FAILURES = 10;
/** How often it is told to a server that does not answer, or puts it off: about an hour, after which servers take the job for lost. */
const MAX_SILENT_FAILURES = 80;
/** How often the whole trace is sent anew because the server says that it has another one. */
const MAX_RESETS = 5;

/** The outcome of reporting the end of a job. */
export type Told = "told" | "refused" | "given-up";

/** Uploads a trace by offset while it grows, and tells the end of the job. */
export class TraceUpload {
  readonly #job: UploadedJob;
  readonly #pace: UploadPace;
  readonly #stop = new AbortController();
  #sent = 0;
  #intervalMs: number;
  #failures = 0;
  #isRefused = false;
  #isSilent = false;
  #lastContact = performance.now();
  #wake: (() => void) | undefined;

  constructor(job: UploadedJob, pace: UploadPace = DEFAULT_PACE) {
    this.#job = job;
    this.#pace = pace;
    this.#intervalMs = pace.intervalMs;
  }

  /** Uploads what there is at the pace of the server, until `finish()` or the server refuses. @throws the error of the system for the trace on the disk */
  async run(): Promise<void> {
    this.#job.trace.onChange(() => this.#wake?.());
    while (!this.#stop.signal.aborted && !this.#isRefused) {
      await this.#pause();
      if (this.#stop.signal.aborted) return;
      if (this.#job.trace.size > this.#sent) await this.#patch();
      else if (this.#silenceLeftMs() === 0) await this.#keepAlive();
    }
  }

  /** Sends the rest of the trace and then the end of the job, as often as the server needs. @throws the error of the system for the trace on the disk */
  async finish(end: JobEnd, signal: AbortSignal): Promise<Told> {
    this.#stop.abort();
    this.#wake?.();
    this.#intervalMs = Math.min(this.#intervalMs, this.#pace.intervalMs);
    let resets = 0;
    for (let failures = 0; failures < this.#maxFailures() && !signal.aborted;) {
      if (this.#isRefused || !(await this.#flush(signal))) return this.#isRefused ? "refused" : "given-up";
      const answer = await this.#update(this.#endUpdate(end), signal);
      if (this.#isRefused || answer?.status === 404) return "refused";
      if (answer?.status === 200) return "told";
      if (answer?.status === 202) await this.#sleep(this.#intervalMs, signal);
      else if (answer?.status === 412 && resets < MAX_RESETS) {
        resets += 1;
        this.#sent = 0;
      } else {
        failures += 1;
        this.#warn("The end of a job was not taken", describe(answer));
        await this.#sleep(this.#retryMs(failures), signal);
      }
    }
    return "given-up";
  }

  #endUpdate({ state, reason, exitCode }: JobEnd): Pick<JobUpdate, "state"> & Partial<JobUpdate> {
    const { trace, payload } = this.#job;
    const known = payload.features.failure_reasons;
    const checksum = formatChecksum(trace.crc);
    return {
      state,
      failure_reason: reason && reasonFor(reason, known),
      exit_code: exitCode === 0 ? undefined : exitCode,
      checksum,
      output: { checksum, bytesize: trace.size },
    };
  }

  /** Whether all bytes are with the server. */
  async #flush(signal: AbortSignal): Promise<boolean> {
    for (let failures = 0; this.#job.trace.size > this.#sent;) {
      if (signal.aborted || this.#isRefused || failures >= this.#maxFailures()) return false;
      const before = this.#sent;
      if (await this.#patch(signal)) {
        // A server that goes back and forth would be asked for ever.
        failures = this.#sent > before ? 0 : failures + 1;
        continue;
      }
      failures += 1;
      await this.#sleep(this.#retryMs(failures), signal);
    }
    return !signal.aborted;
  }

  async #patch(signal?: AbortSignal): Promise<boolean> {
    const { api, trace, payload } = this.#job;
    const bytes = trace.read(this.#sent);
    const patch = { token: payload.token, offset: this.#sent, bytes };
    const answer = await this.#ask(() => api.patchTrace(payload.id, patch, { signal }));
    if (answer === undefined) return false;
    if (answer.status === 202) this.#sent = answer.stored ?? this.#sent + bytes.length;
    else if (answer.status === 416) this.#sent = answer.stored ?? 0;
    else {
      this.#warn("The trace of a job was not taken", describe(answer));
      this.#failures += 1;
      return false;
    }
    this.#failures = 0;
    return true;
  }

  async #keepAlive(): Promise<void> {
    await this.#update({ state: "running" });
  }

  #update(update: Partial<JobUpdate>, signal?: AbortSignal): Promise<JobStateAnswer | undefined> {
    const { api, payload, info } = this.#job;
    return this.#ask(() => api.updateJob(payload.id, { token: payload.token, info, ...update }, { signal }));
  }

  async #ask<A extends JobStateAnswer>(call: () => Promise<A>): Promise<A | undefined> {
    try {
      const answer = await call();
      this.#lastContact = performance.now();
      this.#isSilent = answer.wasPutOff;
      this.#heed(answer);
      return answer;
    } catch (error) {
      if (!isStepsError(error)) throw error;
      this.#isSilent = true;
      this.#failures += 1;
      if (error.code !== "CANCELLED") this.#warn("The server was not told of a job", error.message);
      return undefined;
    }
  }

  /** A server that is away for a while, as when it is brought up to date, is no reason to lose what a job has done. */
  #maxFailures(): number {
    return this.#isSilent ? MAX_SILENT_FAILURES : MAX_END_FAILURES;
  }

  #warn(message: string, reason: string): void {
    this.#job.log("warning", message, { job: this.#job.payload.id, reason });
  }

  #heed({ status, jobStatus = "", intervalSeconds }: JobStateAnswer): void {
    if (intervalSeconds !== undefined && intervalSeconds > 0) {
      this.#intervalMs = Math.min(intervalSeconds * 1000, LONGEST_INTERVAL_MS);
    }
    if (status === 403 || (STOPPING.now as readonly string[]).includes(jobStatus)) {
      this.#isRefused = true;
      this.#job.onStop("now");
    } else if ((STOPPING.gracefully as readonly string[]).includes(jobStatus)) this.#job.onStop("gracefully");
  }

  #retryMs(failures: number): number {
    const grown = Math.min(this.#pace.firstRetryMs * 2 ** (failures - 1), this.#pace.longestRetryMs);
    return grown / 2 + (Math.random() * grown) / 2;
  }

  // An interval after the last attempt, or longer when the server cannot be had. Without output it is looked at now and then.
  async #pause(): Promise<void> {
    await this.#sleep(this.#failures === 0 ? this.#intervalMs : this.#retryMs(this.#failures), this.#stop.signal);
    if (this.#stop.signal.aborted || this.#job.trace.size > this.#sent) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#silenceLeftMs());
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
    clearTimeout(timer);
  }

  // Only an answer tells that a job is cancelled, so that a silent one asks as often as its server wants to hear of a loud one.
  #silenceLeftMs(): number {
    const longest = Math.min(this.#pace.keepAliveMs, this.#intervalMs);
    return Math.max(0, Math.ceil(longest - (performance.now() - this.#lastContact)));
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await delay(ms, undefined, { signal }).catch(() => undefined);
  }
}

function describe(answer: JobStateAnswer | undefined): string {
  if (answer === undefined) return "there was no answer";
  return `the server answered ${answer.status}${answer.message === undefined ? "" : ` (${answer.message})`}`;
}
