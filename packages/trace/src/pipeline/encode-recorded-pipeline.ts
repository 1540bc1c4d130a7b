import type { AttemptJson, InstanceRecordJson, JobRecordJson, PipelineTraceJson, TraceJson } from "@steps/proto";
import { encodeTime } from "../step-draft.ts";
import { encodeIntegrity, type TraceOptions } from "../trace-integrity.ts";
import { withoutEmptyTexts } from "../without-empty-texts.ts";
import { fullName } from "./full-name.ts";
import { fingerprintPipeline } from "./pipeline-fingerprint.ts";
import type { PipelineFinished, PipelineStarted } from "./pipeline-journal-event.ts";

/** The version of the trace of a pipeline that this package writes, and the highest that it replays. */
export const PIPELINE_FORMAT_VERSION = 1;

/** A pipeline as far as it is recorded. */
export interface RecordedPipeline {
  readonly jobs: ReadonlyMap<string, JobDraft>;
  /** The digests of the files that it is made of, by their paths. */
  readonly files: ReadonlyMap<string, string>;
  readonly notes: readonly string[];
  readonly started: PipelineStarted | undefined;
  readonly finished: PipelineFinished | undefined;
}

/** A job's record while it is written. */
export interface JobDraft {
  readonly record: JobRecordJson;
  /** By their names. */
  readonly instances: Map<string, InstanceDraft>;
  hasBegun: boolean;
}

/** The record of an instance while it is written. */
export interface InstanceDraft {
  readonly record: InstanceRecordJson;
  readonly attempts: AttemptJson[];
}

/** The trace of a pipeline. What began and has not ended is `interrupted`. */
export function encodeRecordedPipeline(
  { jobs, files, notes, started, finished }: RecordedPipeline,
  options: TraceOptions,
  traceOf: (traceId: string) => TraceJson | undefined,
): PipelineTraceJson {
  const records = inOrder([...jobs.values()].map((job) => finishJob(job, traceOf)));
  const { traceId = "", parentTraceId = "", language = "", source = "", projectDir = "", runner } = started ?? {};
  const startedAt = started && encodeTime(started.at);
  const finishedAt = finished && encodeTime(finished.at);
  return {
    pipelineFormatVersion: PIPELINE_FORMAT_VERSION,
    ...withoutEmptyTexts({ traceId, parentTraceId, language, source, projectDir }),
    ...(runner && { runner: { ...runner } }),
    ...(files.size > 0 && { files: [...files].map(([path, sha256]) => ({ path, sha256 })) }),
    ...(records.length > 0 && { jobs: records }),
    status: finished?.status ?? "interrupted",
    ...(startedAt !== undefined && { startedAt }),
    ...(finishedAt !== undefined && { finishedAt }),
    fingerprints: fingerprintPipeline(records),
    integrity: encodeIntegrity(options),
    ...(notes.length > 0 && { notes: [...notes] }),
  };
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
