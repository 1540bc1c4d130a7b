import type { Phase } from "@steps/model/event";
import type { DeterministicJson, ObservedJson, Step_ReferenceJson, StepJson, StepRecordJson } from "@steps/proto";
import { type FingerprintContext, fingerprintStep } from "./fingerprint.ts";
import type { JournalProcessStarting, JournalStepFinished, JournalStepPlanned, Vals } from "./journal-event.ts";
import { plainStrings, plainValues } from "./plain.ts";
import type { ResourceIndex } from "./resource-index.ts";
import { createTokeniser, type TokenPlaces, type Tokeniser } from "./tokenise.ts";

/** A step's record while it is written. */
export interface StepDraft {
  readonly path: string;
  name: string;
  phase: Phase | undefined;
  openedAt: number | undefined;
  isOpen: boolean;
  readonly det: DeterministicJson;
  readonly obs: ObservedJson;
  readonly children: StepDraft[];
  tokens: Tokeniser;
}

const NO_TOKENS: Tokeniser = { text: (text) => text, vals: (vals) => ({ ...vals }) };

export function createDraft(path: string): StepDraft {
  return {
    path,
    name: "",
    phase: undefined,
    openedAt: undefined,
    isOpen: true,
    det: {},
    obs: {},
    children: [],
    tokens: NO_TOKENS,
  };
}

/** Takes down what a step was going to do. */
export function draftPlan(draft: StepDraft, event: JournalStepPlanned, resources: ResourceIndex): void {
  const { det, obs } = draft;
  draftPlaces(draft, event.places);
  if (event.component) det.component = resources.indexOf(event.component);
  setText(det, "subpath", event.subpath);
  setText(det, "definitionDigest", event.definitionDigest);
  if (event.specDefinition.definition?.type) det.type = event.specDefinition.definition.type;
  if (event.reference) det.reference = tokeniseReference(event.reference, draft.tokens);
  setVals(det, "inputs", draft.tokens.vals(event.inputs));
  const secrets = Object.keys(event.secrets ?? {});
  if (secrets.length > 0) det.secrets = secrets;
  if (event.specDefinition.definition?.type === "steps") {
    setVals(det, "env", draft.tokens.vals(event.definitionEnv));
  }
  if (draft.path !== "") obs.step = invocationOf(draft.name, event);
}

/** The invocation of a step with its expressions expanded, as GitLab's results show it. */
export function invocationOf(name: string, event: JournalStepPlanned): StepJson {
  const env = plainStrings(event.invocation.env);
  const inputs = plainValues(event.invocation.inputs);
  return {
    ...(name === "" ? {} : { name }),
    ...(event.reference ? { step: event.reference } : {}),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(Object.keys(inputs).length === 0 ? {} : { inputs }),
  };
}

/** Takes down the process of a step. */
export function draftProcess(draft: StepDraft, event: JournalProcessStarting, resources: ResourceIndex): void {
  const { det } = draft;
  draftPlaces(draft, event.places);
  setVals(det, "env", draft.tokens.vals(event.env));
  if (event.envDeniedCount !== undefined && event.envDeniedCount > 0) draft.obs.envDeniedCount = event.envDeniedCount;
  if (event.command.length > 0) det.command = event.command.map((argument) => draft.tokens.text(argument));
  setText(det, "workDir", draft.tokens.text(event.workDir));
  if (event.tools.length > 0) det.tools = event.tools.map((tool) => resources.indexOf(tool));
}

// The work directory is that of the request.
function draftPlaces(draft: StepDraft, places: TokenPlaces): void {
  draft.tokens = createTokeniser(places);
  const { stepDir, jobTmp, outputFile, exportFile } = places;
  draft.obs.places = {
    ...(stepDir ? { stepDir } : {}),
    ...(jobTmp ? { jobTmp } : {}),
    ...(outputFile ? { outputFile } : {}),
    ...(exportFile ? { exportFile } : {}),
  };
}

/** Takes down how a step ended. */
export function draftEnd(draft: StepDraft, event: JournalStepFinished): void {
  const { det, obs } = draft;
  draft.isOpen = false;
  det.status = event.status;
  if (event.exitCode !== undefined && Number.isInteger(event.exitCode)) det.exitCode = event.exitCode;
  setText(det, "signal", event.signal ?? "");
  setVals(det, "outputs", draft.tokens.vals(event.outputs));
  setVals(det, "exports", draft.tokens.vals(event.exports));
  setText(det, "delegateOf", event.delegateOf ?? "");
  if (event.skipReason !== undefined) obs.skipReason = event.skipReason;
  if (event.conclusion !== undefined) obs.conclusion = event.conclusion;
  if (event.annotations !== undefined) obs.annotations = event.annotations.map((annotation) => ({ ...annotation }));
  if (event.summary !== undefined) obs.summary = event.summary;
  if (event.error) obs.error = { code: event.error.code, message: event.error.message };
  draftTimes(draft, event.at);
  const { log } = event;
  if (!log) return;
  det.stdout = encodeStream(log.stdout);
  det.stderr = encodeStream(log.stderr);
  const ref = {
    ...(log.file ? { file: log.file } : {}),
    ...(log.indexFile ? { indexFile: log.indexFile } : {}),
    ...(log.storedBytes > 0 ? { bytes: String(log.storedBytes) } : {}),
    ...(log.droppedBytes > 0 ? { droppedBytes: String(log.droppedBytes) } : {}),
    ...(log.inline === undefined ? {} : { inline: log.inline }),
  };
  if (Object.keys(ref).length > 0) obs.log = ref;
}

export function draftTimes(draft: StepDraft, finishedAt: number): void {
  const finished = encodeTime(finishedAt);
  if (finished !== undefined) draft.obs.finishedAt = finished;
  const duration = draft.openedAt === undefined ? 0 : finishedAt - draft.openedAt;
  if (duration > 0 && Number.isFinite(duration)) draft.obs.durationMs = duration;
}

/** The record as it stands; a step that did not end was interrupted. */
export function finishDraft(draft: StepDraft, context: FingerprintContext): StepRecordJson {
  const det: DeterministicJson = {
    ...draft.det,
    status: draft.isOpen ? "interrupted" : (draft.det.status ?? "interrupted"),
  };
  const { core, full } = fingerprintStep(det, context);
  const children = draft.children.toSorted((a, b) => rankOf(a) - rankOf(b) || indexIn(a.path) - indexIn(b.path));
  return {
    ...(draft.path === "" ? {} : { path: draft.path }),
    ...(draft.name === "" ? {} : { name: draft.name }),
    ...(draft.phase === undefined ? {} : { phase: draft.phase }),
    det: { ...det, coreFingerprint: core, fullFingerprint: full },
    ...(Object.keys(draft.obs).length === 0 ? {} : { obs: { ...draft.obs } }),
    ...(children.length === 0 ? {} : { children: children.map((child) => finishDraft(child, context)) }),
  };
}

// The `pre` phases come before all steps, although they are numbered after them.
function rankOf({ phase }: StepDraft): number {
  return phase === "pre" ? 0 : 1;
}

function indexIn(path: string): number {
  const index = Number(path.slice(path.lastIndexOf("/") + 1));
  return Number.isSafeInteger(index) ? index : 0;
}

/** Wall-clock milliseconds as protobuf's JSON has them; `undefined` outside of what it can say. */
export function encodeTime(at: number): string | undefined {
  return at >= -62_135_596_800_000 && at <= 253_402_300_799_999
    ? new Date(at).toISOString().replace(".000Z", "Z")
    : undefined;
}

function encodeStream(stream: { readonly sha256: string; readonly bytes: number; readonly lines: number }): {
  sha256?: string;
  bytes?: string;
  lines?: string;
} {
  return {
    ...(stream.sha256 === "" ? {} : { sha256: stream.sha256 }),
    ...(stream.bytes > 0 ? { bytes: String(stream.bytes) } : {}),
    ...(stream.lines > 0 ? { lines: String(stream.lines) } : {}),
  };
}

function tokeniseReference(reference: Step_ReferenceJson, tokens: Tokeniser): Step_ReferenceJson {
  const parts = reference.paths?.parts;
  if (reference.protocol !== "local" || parts === undefined || parts[0] !== "") return reference;
  return { ...reference, paths: { parts: tokens.text(parts.join("/")).split("/") } };
}

type TextKey = "subpath" | "definitionDigest" | "workDir" | "signal" | "delegateOf";

// Zero values are left out, as protobuf's JSON does.
function setText(det: DeterministicJson, key: TextKey, text: string): void {
  if (text !== "") det[key] = text;
}

function setVals(det: DeterministicJson, key: "inputs" | "env" | "outputs" | "exports", vals: Vals): void {
  if (Object.keys(vals).length > 0) det[key] = vals;
}
