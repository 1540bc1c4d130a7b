import { createObject, type IncludedFile, type RunMode } from "@steps/model";
import type { RunNote } from "@steps/model/event";
import { digestOf } from "@steps/platform";
import type {
  Request_IncludedFileJson,
  Request_ModeJson,
  RequestJson,
  RuntimeJson,
  TraceJson,
  ValJson,
} from "@steps/proto";
import { fingerprintTrace } from "./fingerprint.ts";
import type { JournalEvent, JournalRunFinished, JournalRunStarted, RedactedJob } from "./journal-event.ts";
import { createResourceIndex } from "./resource-index.ts";
import {
  createDraft,
  draftEnd,
  draftPlan,
  draftProcess,
  draftTimes,
  encodeTime,
  finishDraft,
  type StepDraft,
} from "./step-draft.ts";
import type { TokenPlaces } from "./tokenise.ts";

/** Folds the events of a run into its trace. */
export interface Recorder {
  /** Events after the last and of unknown steps are taken as well as can be; it never throws. */
  apply(event: JournalEvent): void;
  /**
   * The trace so far. Steps that have not ended are `interrupted`.
   *
   * `journalRoot` and `journalEvents` are those of the journal that the events are in.
   */
  trace(options: TraceOptions): TraceJson;
  /** The paths of the steps that have begun and not ended, in order. */
  readonly openSteps: readonly string[];
}

/** The facts of a journal that a trace names: the digest of its last line, and how many events it has. */
export interface TraceOptions {
  readonly journalRoot: string;
  readonly journalEvents: number;
  /** The journal is of a run that did not end. */
  readonly isRecovered?: boolean;
}

/** The version of the trace that this package writes, and the highest that it replays. */
export const FORMAT_VERSION = 1;

/** The version of the rules by which secrets were redacted. */
export const REDACTION_POLICY = "steps-mask/1";

const MAX_NOTES = 1000;

/** A recorder of one run. */
export function createRecorder(): Recorder {
  const resources = createResourceIndex();
  const root = createDraft("");
  const drafts = new Map<string, StepDraft>([["", root]]);
  const vars = createObject<ValJson>();
  const inherited = createObject<ValJson>();
  const notes: string[] = [];
  const texts = new WeakMap<ValJson, string>();
  let started: JournalRunStarted | undefined;
  let stores: TokenPlaces["stores"];
  let finished: JournalRunFinished | undefined;

  const draftAt = (path: string): StepDraft => {
    const known = drafts.get(path);
    if (known) return known;
    const draft = createDraft(path);
    drafts.set(path, draft);
    const parent = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
    draftAt(parent).children.push(draft);
    return draft;
  };
  const placesOf = (places: TokenPlaces): TokenPlaces => ({
    ...places,
    workspace: started?.job.workspace?.root,
    stores,
  });
  const open = (draft: StepDraft, at: number): void => {
    draft.openedAt = at;
    const time = encodeTime(at);
    if (time !== undefined) draft.obs.startedAt = time;
  };

  const apply = (event: JournalEvent): void => {
    switch (event.type) {
      case "run-started":
        started = event;
        stores = storesOf(event.job);
        return open(root, event.at);
      case "step-opened": {
        const draft = draftAt(event.path);
        draft.name = event.name;
        if (event.reference) draft.det.reference = event.reference;
        if (event.phase) draft.phase = event.phase;
        return open(draft, event.at);
      }
      case "variable-read":
        (event.isInherited === true ? inherited : vars)[event.name] = event.value;
        return;
      case "component-resolved": {
        const { isHit, bytes, durationMs } = event.fetch;
        resources.indexOf(event.resource);
        draftAt(event.path).obs.fetch = {
          ...(isHit ? { hit: true } : {}),
          ...(bytes > 0 ? { bytes: String(bytes) } : {}),
          ...(durationMs > 0 ? { durationMs } : {}),
        };
        return;
      }
      case "step-planned":
        return draftPlan(draftAt(event.path), { ...event, places: placesOf(event.places) }, resources);
      case "process-starting":
        return draftProcess(draftAt(event.path), { ...event, places: placesOf(event.places) }, resources);
      case "secret-found":
        return;
      case "process-started":
        if (event.pid > 0) draftAt(event.path).obs.pid = event.pid;
        return;
      case "step-finished":
        return draftEnd(draftAt(event.path), event);
      case "note":
        if (event.level !== "debug" && notes.length < MAX_NOTES) notes.push(formatNote(event, drafts.get(event.path)));
        return;
      case "run-finished":
        finished = event;
        return finishRun(root, event);
    }
  };

  return {
    apply,
    get openSteps() {
      return started === undefined ? [] : [...drafts.values()].filter((draft) => draft.isOpen).map(({ path }) => path);
    },
    trace(options) {
      const runtime: RuntimeJson = withoutEmpty(started?.runtime ?? {});
      const record = finishDraft(root, { resources: resources.resources, runtime, texts });
      const request = started && encodeRequest(started.job, { vars, inherited });
      const startedAt = started && encodeTime(started.at);
      const finishedAt = finished && encodeTime(finished.at);
      return {
        formatVersion: FORMAT_VERSION,
        ...withoutEmpty({ traceId: started?.traceId ?? "", parentTraceId: started?.parentTraceId ?? "" }),
        ...(request ? { request } : {}),
        ...(started ? { runner: withoutEmpty(started.runner) } : {}),
        runtime,
        ...(resources.resources.length === 0 ? {} : { resources: [...resources.resources] }),
        root: record,
        fingerprints: fingerprintTrace(record),
        integrity: {
          journalRoot: options.journalRoot,
          ...(options.journalEvents > 0 ? { journalEvents: String(options.journalEvents) } : {}),
          redactionPolicy: REDACTION_POLICY,
          ...(request ? { requestDigest: digestOf(request) } : {}),
          ...(options.isRecovered === true ? { recovered: true } : {}),
        },
        ...(startedAt === undefined ? {} : { startedAt }),
        ...(finishedAt === undefined ? {} : { finishedAt }),
        ...(notes.length === 0 ? {} : { notes: [...notes] }),
      };
    },
  };
}

// A store whose path is masked has no name: nothing can stand in its place.
function storesOf({ stores, inputs }: RedactedJob): TokenPlaces["stores"] {
  if (stores === undefined) return undefined;
  const paths = stores.flatMap((name) => {
    const path = inputs[name]?.value;
    return typeof path === "string" ? [[name, path] as const] : [];
  });
  return createObject(paths);
}

// A run that fails before the job is a step has no end of the root but this one.
function finishRun(root: StepDraft, { at, outcome, outputs }: JournalRunFinished): void {
  if (!root.isOpen) return;
  draftEnd(root, { type: "step-finished", at, path: "", exports: {}, outputs, ...outcome });
  draftTimes(root, at);
}

function formatNote({ level, message, code }: RunNote, draft: StepDraft | undefined): string {
  const place = draft && draft.name !== "" ? `step "${draft.name}": ` : "";
  return `${level}: ${place}${message} [${code}]`;
}

function encodeRequest(
  job: RedactedJob,
  { vars, inherited }: { readonly vars: Record<string, ValJson>; readonly inherited: Record<string, ValJson> },
): RequestJson {
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
    ...withoutEmpty({ jobName: name, source, workDir, baseDir: relativeTo(workDir, baseDir) }),
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

function withoutEmpty<T extends object>(texts: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== "")) as { [K in keyof T]?: string };
}
