import { createObject } from "@steps/model";
import type { RunNote } from "@steps/model/event";
import type { TraceJson } from "@steps/proto";
import { encodeRun, type RecordedRun } from "./encode-run.ts";
import type { JournalEvent, JournalRunFinished, RedactedJob } from "./journal-event.ts";
import { createResourceIndex } from "./resource-index.ts";
import {
  createDraft,
  draftEnd,
  draftPlan,
  draftProcess,
  draftTimes,
  encodeTime,
  type StepDraft,
} from "./step-draft.ts";
import type { TokenPlaces } from "./tokenise.ts";
import type { TraceOptions } from "./trace-integrity.ts";

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

const MAX_NOTES = 1000;

/** A recorder of one run. */
export function createRecorder(): Recorder {
  const root = createDraft("");
  const run: RunDraft = {
    root,
    drafts: new Map([["", root]]),
    resources: createResourceIndex(),
    vars: createObject(),
    inherited: createObject(),
    notes: [],
    texts: new WeakMap(),
    started: undefined,
    finished: undefined,
    stores: undefined,
  };
  return {
    apply: (event) => record(run, event),
    trace: (options) => encodeRun(run, options),
    get openSteps() {
      const { started, drafts } = run;
      return started === undefined ? [] : [...drafts.values()].filter((draft) => draft.isOpen).map(({ path }) => path);
    },
  };
}

/** A run while it is recorded. */
interface RunDraft extends RecordedRun {
  /** The drafts of all steps by their paths. */
  readonly drafts: Map<string, StepDraft>;
  readonly notes: string[];
  started: RecordedRun["started"];
  finished: RecordedRun["finished"];
  stores: TokenPlaces["stores"];
}

function record(run: RunDraft, event: JournalEvent): void {
  switch (event.type) {
    case "run-started":
      run.started = event;
      run.stores = storesOf(event.job);
      return open(run.root, event.at);
    case "step-opened": {
      const draft = draftAt(run, event.path);
      draft.name = event.name;
      if (event.reference) draft.det.reference = event.reference;
      if (event.phase) draft.phase = event.phase;
      return open(draft, event.at);
    }
    case "variable-read":
      (event.isInherited === true ? run.inherited : run.vars)[event.name] = event.value;
      return;
    case "component-resolved": {
      const { isHit, bytes, durationMs } = event.fetch;
      run.resources.indexOf(event.resource);
      draftAt(run, event.path).obs.fetch = {
        ...(isHit ? { hit: true } : {}),
        ...(bytes > 0 ? { bytes: String(bytes) } : {}),
        ...(durationMs > 0 ? { durationMs } : {}),
      };
      return;
    }
    case "step-planned":
      return draftPlan(draftAt(run, event.path), { ...event, places: placesIn(run, event.places) }, run.resources);
    case "process-starting":
      return draftProcess(draftAt(run, event.path), { ...event, places: placesIn(run, event.places) }, run.resources);
    case "secret-found":
      return;
    case "process-started":
      if (event.pid > 0) draftAt(run, event.path).obs.pid = event.pid;
      return;
    case "step-finished":
      return draftEnd(draftAt(run, event.path), event);
    case "note":
      if (event.level !== "debug" && run.notes.length < MAX_NOTES)
        run.notes.push(formatNote(event, run.drafts.get(event.path)));
      return;
    case "run-finished":
      run.finished = event;
      return finishRun(run.root, event);
  }
}

/** The draft of the step with a path; a step that nothing was heard of begins with it. */
function draftAt(run: RunDraft, path: string): StepDraft {
  const known = run.drafts.get(path);
  if (known) return known;
  const draft = createDraft(path);
  run.drafts.set(path, draft);
  const parent = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  draftAt(run, parent).children.push(draft);
  return draft;
}

function open(draft: StepDraft, at: number): void {
  draft.openedAt = at;
  const time = encodeTime(at);
  if (time !== undefined) draft.obs.startedAt = time;
}

/** The places of a step with those that all steps of the run share. */
function placesIn({ started, stores }: RunDraft, places: TokenPlaces): TokenPlaces {
  return { ...places, workspace: started?.job.workspace?.root, stores };
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
