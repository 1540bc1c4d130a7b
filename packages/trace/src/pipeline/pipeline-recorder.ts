import { createObject } from "@steps/model";
import type { InstanceRecordJson, JobRecordJson, PipelineTraceJson, TraceJson } from "@steps/proto";
import { encodeTime } from "../step-draft.ts";
import type { TraceOptions } from "../trace-integrity.ts";
import { withoutEmptyTexts } from "../without-empty-texts.ts";
import {
  encodeRecordedPipeline,
  type InstanceDraft,
  type JobDraft,
  type RecordedPipeline,
} from "./encode-recorded-pipeline.ts";
import type { JobEnd, PipelineJournalEvent } from "./pipeline-journal-event.ts";

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

const MAX_NOTES = 1000;

/** A recorder of one pipeline. */
export function createPipelineRecorder(): PipelineRecorder {
  const pipeline: PipelineDraft = {
    jobs: new Map(),
    files: new Map(),
    runs: [],
    notes: [],
    started: undefined,
    finished: undefined,
  };
  return {
    apply: (event) => record(pipeline, event),
    trace: (options, traceOf) => encodeRecordedPipeline(pipeline, options, traceOf),
    runs: pipeline.runs,
  };
}

/** A pipeline while it is recorded. */
interface PipelineDraft extends RecordedPipeline {
  readonly jobs: Map<string, JobDraft>;
  readonly files: Map<string, string>;
  readonly runs: string[];
  readonly notes: string[];
  started: RecordedPipeline["started"];
  finished: RecordedPipeline["finished"];
}

function record(pipeline: PipelineDraft, event: PipelineJournalEvent): void {
  switch (event.type) {
    case "pipeline-started":
      pipeline.started = event;
      return;
    case "file-read":
      pipeline.files.set(event.path, event.sha256);
      return;
    case "job-planned": {
      const job = jobAt(pipeline, event);
      if (event.needs.length > 0) job.record.needs = [...event.needs];
      return;
    }
    case "job-decided":
      jobAt(pipeline, event).hasBegun = event.instances.length > 0;
      for (const instance of event.instances) instanceAt(pipeline, { ...event, instance });
      return;
    case "instance-delayed":
      instanceAt(pipeline, event).record.delayMs = event.delayMs;
      return;
    case "instance-started": {
      const startedAt = encodeTime(event.at);
      if (startedAt !== undefined) instanceAt(pipeline, event).record.startedAt = startedAt;
      return;
    }
    case "attempt-started":
      pipeline.runs.push(event.traceId);
      instanceAt(pipeline, event).attempts.push({ traceId: event.traceId });
      return;
    case "attempt-ended": {
      const attempt = instanceAt(pipeline, event).attempts.find(({ traceId }) => traceId === event.traceId);
      if (attempt) attempt.status = event.status;
      return;
    }
    case "instance-ended": {
      const { record: instance } = instanceAt(pipeline, event);
      const finishedAt = encodeTime(event.at);
      if (instance.startedAt !== undefined && finishedAt !== undefined) instance.finishedAt = finishedAt;
      return end(instance, event.result);
    }
    case "job-ended":
      return end(jobAt(pipeline, event).record, event.result);
    case "pipeline-note":
      if (pipeline.notes.length < MAX_NOTES) pipeline.notes.push(event.message);
      return;
    case "pipeline-finished":
      pipeline.finished = event;
      return;
  }
}

interface OfJob {
  readonly caller: string;
  readonly job: string;
}

/** The draft of a job; one that nothing was heard of begins with it. */
function jobAt({ jobs }: PipelineDraft, { caller, job }: OfJob): JobDraft {
  const key = JSON.stringify([caller, job]);
  const known = jobs.get(key);
  if (known) return known;
  const draft: JobDraft = {
    record: { name: job, ...withoutEmptyTexts({ caller }) },
    instances: new Map(),
    hasBegun: false,
  };
  jobs.set(key, draft);
  return draft;
}

function instanceAt(pipeline: PipelineDraft, event: OfJob & { readonly instance: string }): InstanceDraft {
  const { instances } = jobAt(pipeline, event);
  const known = instances.get(event.instance);
  if (known) return known;
  const draft: InstanceDraft = { record: { name: event.instance }, attempts: [] };
  instances.set(event.instance, draft);
  return draft;
}

function end(record: JobRecordJson | InstanceRecordJson, { status, isAllowedToFail, reason, outputs }: JobEnd): void {
  record.status = status;
  if (status === "failure" && isAllowedToFail === true) record.allowedFailure = true;
  if (reason !== undefined && reason !== "") record.reason = reason;
  if (outputs !== undefined && Object.keys(outputs).length > 0)
    record.outputs = createObject(Object.entries(outputs).map(([name, val]) => [name, val] as const));
}
