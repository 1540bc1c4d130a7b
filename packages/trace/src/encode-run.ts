import type { IncludedFile, RunMode } from "@steps/model";
import type {
  Request_IncludedFileJson,
  Request_ModeJson,
  RequestJson,
  RuntimeJson,
  TraceJson,
  ValJson,
} from "@steps/proto";
import { digestOf } from "@steps/platform";
import { fingerprintTrace } from "./fingerprint.ts";
import type { JournalRunFinished, JournalRunStarted, RedactedJob } from "./journal-event.ts";
import type { ResourceIndex } from "./resource-index.ts";
import { encodeTime, finishDraft, type StepDraft } from "./step-draft.ts";
import { encodeIntegrity, type TraceOptions } from "./trace-integrity.ts";
import { withoutEmptyTexts } from "./without-empty-texts.ts";

/** The version of the trace that this package writes, and the highest that it replays. */
export const FORMAT_VERSION = 1;

/** A run as far as it is recorded. */
export interface RecordedRun {
  /** The draft of the job itself; those of the steps are below. */
  readonly root: StepDraft;
  readonly resources: ResourceIndex;
  readonly vars: Record<string, ValJson>;
  readonly inherited: Record<string, ValJson>;
  readonly notes: readonly string[];
  /** The texts of values that were written before, for the fingerprints. */
  readonly texts: WeakMap<ValJson, string>;
  readonly started: JournalRunStarted | undefined;
  readonly finished: JournalRunFinished | undefined;
}

/** The trace of a run. Steps that have not ended are `interrupted`. */
export function encodeRun(run: RecordedRun, options: TraceOptions): TraceJson {
  const {
    root,
    resources: { resources },
    texts,
    notes,
    started,
    finished,
  } = run;
  const runtime: RuntimeJson = withoutEmptyTexts(started?.runtime ?? {});
  const record = finishDraft(root, { resources, runtime, texts });
  const request = started && encodeRequest(started.job, run);
  const startedAt = started && encodeTime(started.at);
  const finishedAt = finished && encodeTime(finished.at);
  return {
    formatVersion: FORMAT_VERSION,
    ...withoutEmptyTexts({ traceId: started?.traceId ?? "", parentTraceId: started?.parentTraceId ?? "" }),
    ...(request ? { request } : {}),
    ...(started ? { runner: withoutEmptyTexts(started.runner) } : {}),
    runtime,
    ...(resources.length === 0 ? {} : { resources: [...resources] }),
    root: record,
    fingerprints: fingerprintTrace(record),
    integrity: encodeIntegrity(options, request && digestOf(request)),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(notes.length === 0 ? {} : { notes: [...notes] }),
  };
}

function encodeRequest(job: RedactedJob, { vars, inherited }: Pick<RecordedRun, "vars" | "inherited">): RequestJson {
  const { entry, specDefinition, redactedTexts = [], inputs, env, source, workDir, baseDir } = job;
  const { name = "", grants = {}, mode = {}, includedFiles = [], workspace } = job;
  return {
    entry,
    definition: specDefinition,
    ...(redactedTexts.length === 0 ? {} : { redactedTexts: [...redactedTexts] }),
    ...(Object.keys(inputs).length === 0 ? {} : { inputs }),
    ...(Object.keys(vars).length === 0 ? {} : { vars: { ...vars } }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(Object.keys(grants).length === 0 ? {} : { secrets: grants }),
    ...(Object.keys(inherited).length === 0 ? {} : { inheritedEnv: { ...inherited } }),
    ...(Object.keys(mode).length === 0 ? {} : { mode: encodeMode(mode) }),
    ...(includedFiles.length === 0 ? {} : { includedFiles: includedFiles.map(encodeIncludedFile) }),
    ...withoutEmptyTexts({ jobName: name, source, workDir, baseDir: relativeTo(workDir, baseDir) }),
    ...(workspace && { projectDir: workspace.projectDir }),
  };
}

function encodeIncludedFile({ name, digest }: IncludedFile): Request_IncludedFileJson {
  return { name, digest: { ...digest } };
}

function encodeMode({ compat, isStrictMoa, isStrictVars, warnsOfSensitive }: RunMode): Request_ModeJson {
  return {
    ...(compat === undefined ? {} : { compat }),
    ...(isStrictMoa === true ? { strictMoa: true } : {}),
    ...(isStrictVars === true ? { strictVars: true } : {}),
    ...(warnsOfSensitive === true ? { warnSensitive: true } : {}),
  };
}

function relativeTo(workDir: string, dir: string): string {
  if (dir === workDir) return ".";
  const prefix = workDir.endsWith("/") ? workDir : `${workDir}/`;
  return dir.startsWith(prefix) ? dir.slice(prefix.length) : dir;
}
