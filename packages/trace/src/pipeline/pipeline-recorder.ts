import { createObject } from "@steps/model";
import type { AttemptJson, InstanceRecordJson, JobRecordJson, PipelineTraceJson, TraceJson } from "@steps/proto";
import { REDACTION_POLICY, type TraceOptions } from "../record.ts";
import { encodeTime } from "../step-draft.ts";
import { fullName } from "./full-name.ts";
import { fingerprintPipeline } from "./pipeline-fingerprint.ts";
import type { JobEnd, PipelineFinished, PipelineJournalEvent, PipelineStarted } from "./pipeline-journal-event.ts";

/** Folds the events of a pipeline into its trace. */
export interface PipelineRecorder {
  /** Events of unknown jobs are taken as well as can be; it never throws. */
  apply(event: PipelineJournalEvent): void;
  /**
   * The trace so far. What began and has not ended is `interrupted`.
   *
   * `traceOf` gives the trace of a run by its id, where it is at hand. `journalRoot` and `journalEvents` are those of the
   * pipeline's journal.
   */
  trace(options: TraceOptions, traceOf: (traceId: string) => TraceJson | undefined): PipelineTraceJson;
  /** The ids of the runs that began, in order. */
  readonly runs: readonly string[];
}

/** The version of the trace of a pipeline that this package writes, and the highest that it replays. */
export const PIPELINE_FORMAT_VERSION = 1;

const MAX_NOTES = 1000;

interface JobDraft {
  readonly record: JobRecordJson;
  readonly instances: Map<string, InstanceDraft>;
  hasBegun: boolean;
}

interface InstanceDraft {
  readonly record: InstanceRecordJson;
  readonly attempts: AttemptJson[];
}

/** A recorder of one pipeline. */
export function createPipelineRecorder(): PipelineRecorder {
  const jobs = new Map<string, JobDraft>();
  const files = new Map<string, string>();
  const runs: string[] = [];
  const notes: string[] = [];
  let started: PipelineStarted | undefined;
  let finished: PipelineFinished | undefined;

  const jobAt = ({ caller, job }: OfJob): JobDraft => {
    const key = JSON.stringify([caller, job]);
    const known = jobs.get(key);
    if (known) return known;
    const draft: JobDraft = { record: { name: job, ...textsOf({ caller }) }, instances: new Map(), hasBegun: false };
    jobs.set(key, draft);
    return draft;
  };
  const instanceAt = (event: OfJob & { readonly instance: string }): InstanceDraft => {
    const { instances } = jobAt(event);
    const known = instances.get(event.instance);
    if (known) return known;
    const draft: InstanceDraft = { record: { name: event.instance }, attempts: [] };
    instances.set(event.instance, draft);
    return draft;
  };

  const apply = (event: PipelineJournalEvent): void => {
    switch (event.type) {
      case "pipeline-started":
        started = event;
        return;
      case "file-read":
        files.set(event.path, event.sha256);
        return;
      case "job-planned":
        if (event.needs.length > 0) jobAt(event).record.needs = [...event.needs];
        else jobAt(event);
        return;
      case "job-decided":
        jobAt(event).hasBegun = event.instances.length > 0;
        for (const instance of event.instances) instanceAt({ ...event, instance });
        return;
      case "instance-delayed":
        instanceAt(event).record.delayMs = event.delayMs;
        return;
      case "instance-started": {
        const startedAt = encodeTime(event.at);
        if (startedAt !== undefined) instanceAt(event).record.startedAt = startedAt;
        return;
      }
      case "attempt-started":
        runs.push(event.traceId);
        instanceAt(event).attempts.push({ traceId: event.traceId });
        return;
      case "attempt-ended": {
        const attempt = instanceAt(event).attempts.find(({ traceId }) => traceId === event.traceId);
        if (attempt) attempt.status = event.status;
        return;
      }
      case "instance-ended": {
        const { record } = instanceAt(event);
        const finishedAt = encodeTime(event.at);
        if (record.startedAt !== undefined && finishedAt !== undefined) record.finishedAt = finishedAt;
        return end(record, event.result);
      }
      case "job-ended":
        return end(jobAt(event).record, event.result);
      case "pipeline-note":
        if (notes.length < MAX_NOTES) notes.push(event.message);
        return;
      case "pipeline-finished":
        finished = event;
        return;
    }
  };

  return {
    apply,
    get runs() {
      return runs;
    },
    trace({ journalRoot, journalEvents, isRecovered }, traceOf) {
      const records = inOrder([...jobs.values()].map((job) => finishJob(job, traceOf)));
      const { traceId = "", parentTraceId = "", language = "", source = "", projectDir = "", runner } = started ?? {};
      const startedAt = started && encodeTime(started.at);
      const finishedAt = finished && encodeTime(finished.at);
      return {
        pipelineFormatVersion: PIPELINE_FORMAT_VERSION,
        ...textsOf({ traceId, parentTraceId, language, source, projectDir }),
        ...(runner && { runner: { ...runner } }),
        ...(files.size > 0 && { files: [...files].map(([path, sha256]) => ({ path, sha256 })) }),
        ...(records.length > 0 && { jobs: records }),
        status: finished?.status ?? "interrupted",
        ...(startedAt !== undefined && { startedAt }),
        ...(finishedAt !== undefined && { finishedAt }),
        fingerprints: fingerprintPipeline(records),
        integrity: {
          journalRoot,
          ...(journalEvents > 0 && { journalEvents: String(journalEvents) }),
          redactionPolicy: REDACTION_POLICY,
          ...(isRecovered === true && { recovered: true }),
        },
        ...(notes.length > 0 && { notes: [...notes] }),
      };
    },
  };
}

interface OfJob {
  readonly caller: string;
  readonly job: string;
}

function end(record: JobRecordJson | InstanceRecordJson, { status, isAllowedToFail, reason, outputs }: JobEnd): void {
  record.status = status;
  if (status === "failure" && isAllowedToFail === true) record.allowedFailure = true;
  if (reason !== undefined && reason !== "") record.reason = reason;
  if (outputs !== undefined && Object.keys(outputs).length > 0)
    record.outputs = createObject(Object.entries(outputs).map(([name, val]) => [name, val] as const));
}

function finishJob(
  { record, instances, hasBegun }: JobDraft,
  traceOf: (traceId: string) => TraceJson | undefined,
): JobRecordJson {
  const ended = [...instances.values()].map((instance) => finishInstance(instance, traceOf));
  return {
    ...record,
    ...(hasBegun && record.status === undefined && { status: "interrupted" as const }),
    ...(ended.length > 0 && { instances: ended }),
  };
}

function finishInstance(
  { record, attempts }: InstanceDraft,
  traceOf: (traceId: string) => TraceJson | undefined,
): InstanceRecordJson {
  const ended = attempts.map((attempt): AttemptJson => {
    const trace = traceOf(attempt.traceId ?? "");
    const status = attempt.status ?? trace?.root?.det?.status ?? "interrupted";
    return { ...attempt, status, ...(trace && { trace }) };
  });
  return {
    ...record,
    ...(record.startedAt !== undefined && record.status === undefined && { status: "interrupted" as const }),
    ...(ended.length > 0 && { attempts: ended }),
  };
}

// A pipeline that a job calls is planned when that job runs, which may be long after others were planned.
function inOrder(jobs: readonly JobRecordJson[]): JobRecordJson[] {
  const called = Map.groupBy(jobs, ({ caller = "" }) => caller);
  const found = new Set<JobRecordJson>();
  const open = [...(called.get("") ?? [])].toReversed();
  for (let job = open.pop(); job !== undefined; job = open.pop()) {
    if (found.has(job)) continue;
    found.add(job);
    const { caller = "", instances = [] } = job;
    for (const { name = "" } of instances.toReversed())
      open.push(...(called.get(fullName(caller, name)) ?? []).toReversed());
  }
  return [...found, ...jobs.filter((job) => !found.has(job))];
}

// Zero values are left out, as protobuf's JSON does.
function textsOf<T extends object>(texts: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== "")) as { [K in keyof T]?: string };
}
