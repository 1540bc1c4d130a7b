import { Cancelled } from "@steps/engine";
import { foldJournal } from "@steps/engine/runs";
import { messageOf } from "@steps/model";
import type { StepResultJson, TraceJson } from "@steps/proto";
import { createResultTree } from "@steps/trace";
import { parseJournal } from "@steps/trace/journal";
import { lstatSync } from "node:fs";
import type { JobHandle, JobInfo, OutputPiece, ResultState } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";
import { runOf, writeRecord } from "./job-folder.ts";
import { JobLog } from "./job-log.ts";
import { type JobRecord, shortenError } from "./job-record.ts";
import { readOutput } from "./read-output.ts";
import { StampedLog } from "./read-stamped.ts";
import { MAX_JOURNAL_BYTES } from "./recover-job.ts";
import { readRegularFile } from "./regular-file.ts";
import { closeOpenSteps, ResultFeed } from "./result-feed.ts";

/** How a job ended. */
export type JobEnd = Required<Pick<JobRecord, "status" | "exitCode">> & Pick<JobRecord, "error" | "journalRoot">;

/** A job of the table: what is known of it, its log, its results. It holds nothing of the request. */
export class TableJob implements JobHandle {
  readonly ended: Promise<void>;
  readonly folder: string;
  readonly log: JobLog;
  readonly results: ResultFeed;
  readonly #stamped: StampedLog;
  readonly #cancelled = new AbortController();
  readonly #hurry = new AbortController();
  #record: JobRecord;
  #isRemoved = false;
  #resolveEnded: () => void = () => {};

  /** How long the job has between TERM and KILL, in milliseconds; undefined if its request did not say. */
  readonly graceMs: number | undefined;

  constructor(folder: string, record: JobRecord, graceMs?: number) {
    this.graceMs = graceMs;
    this.folder = folder;
    this.#record = record;
    const isEnded = record.status !== "running";
    this.log = new JobLog(folder, record.log, { isEnded });
    this.#stamped = new StampedLog(this.log);
    this.results = new ResultFeed({ info: () => this.info, readFinal: () => this.#readFinal() }, isEnded);
    this.ended = isEnded
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#resolveEnded = resolve;
        });
  }

  get record(): JobRecord {
    return this.#record;
  }

  get id(): string {
    return this.#record.id;
  }

  get requestDigest(): string {
    return this.#record.requestDigest;
  }

  get serial(): string {
    return this.#record.serial;
  }

  get isEnded(): boolean {
    return this.#record.status !== "running";
  }

  get finishedAt(): number {
    return this.#record.finishedAt ?? Number.POSITIVE_INFINITY;
  }

  /** Aborted when the job is cancelled, and when it has no more time for that. */
  get signals(): { readonly cancelled: AbortSignal; readonly hurry: AbortSignal } {
    return { cancelled: this.#cancelled.signal, hurry: this.#hurry.signal };
  }

  get info(): JobInfo {
    const { id, status, startedAt, finishedAt, exitCode, error, tokenDigest } = this.#record;
    const { stdoutBytes, stderrBytes } = this.log.size;
    return {
      id,
      status,
      startedAt,
      stdoutBytes,
      stderrBytes,
      finishedAt,
      exitCode,
      error,
      tokenDigest,
    };
  }

  cancel(signalName = "SIGTERM"): void {
    if (!this.isEnded) this.#cancelled.abort(new Cancelled(signalName));
  }

  hurry(): void {
    this.#hurry.abort();
  }

  /** Keeps how the job ended, and tells everybody. Gives what the disk said against it. */
  finish(end: JobEnd): unknown {
    this.log.end();
    const error = end.error === undefined ? {} : { error: shortenError(end.error) };
    this.#record = { ...this.#record, ...end, ...error, finishedAt: Date.now(), log: this.log.size };
    let failure: unknown;
    try {
      writeRecord(this.folder, this.#record);
    } catch (cause) {
      failure = cause;
    }
    this.results.end();
    this.#resolveEnded();
    return failure;
  }

  /** The job's files are about to go. */
  markRemoved(): void {
    this.#isRemoved = true;
    this.log.markRemoved();
  }

  readOutput(
    offsets: { readonly stdout: number; readonly stderr: number },
    signal: AbortSignal,
  ): AsyncIterable<OutputPiece> {
    return readOutput(this.log, offsets, signal);
  }

  readStamped(offset: number, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#stamped.read(offset, signal);
  }

  readResults(signal: AbortSignal): AsyncIterable<ResultState> {
    return this.results.read(signal);
  }

  trace(): TraceJson | undefined {
    if (!this.isEnded) return undefined;
    this.#assertThere();
    const run = runOf(this.folder);
    if (run === undefined || lstatSync(run.journal, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    return foldJournal(run.journal, this.#record.journalRoot).trace;
  }

  #readFinal(): StepResultJson {
    this.#assertThere();
    const tree = createResultTree();
    try {
      const run = runOf(this.folder);
      const { events } = parseJournal(run === undefined ? "" : readRegularFile(run.journal, MAX_JOURNAL_BYTES));
      for (const event of events) tree.apply(event);
    } catch (cause) {
      // A step wrote in the journal, or there is none: how the job ended is known nevertheless.
      void messageOf(cause);
    }
    return closeOpenSteps(tree.result(), this.#record.status);
  }

  #assertThere(): void {
    if (this.#isRemoved) throw new ServiceError("JOB_NOT_FOUND", "Cannot read the job: it was closed or has expired");
  }
}
