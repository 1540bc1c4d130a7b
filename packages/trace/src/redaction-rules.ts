import type { IncludedFile, Job, Outcome, RunMode, StepFailure } from "@steps/model";
import type {
  Annotation,
  FetchReport,
  LogStreamDigest,
  LogSummary,
  Places,
  Resource,
  RuntimeRecord,
  StepEvent,
} from "@steps/model/event";

/** The kinds of values that are not plain text, numbers or lists of these, by how they are stored. */
export type Kind =
  | "value"
  | "values"
  | "environment"
  | "definition"
  | "reference"
  | "resource"
  | "resources"
  | "address"
  | "command"
  | "found"
  | "inline";

/** A text that is stored as it is. */
export interface Exempt {
  readonly because: string;
}

/** A field that is not stored at all. */
export interface Omitted {
  readonly omittedBecause: string;
}

/** `"text"`: whatever it is, every text in it is masked. The rule of a list is that of its items. */
export type Rule = "text" | Kind | Exempt | Omitted | Rules;

/** The rules of an object's fields. A field that has none is masked, and so is its name. */
export interface Rules {
  readonly [field: string]: Rule;
}

// A field that is added to an event has to be added here too, with what it is.
type RulesOf<T> = { readonly [Field in keyof Required<T>]: Rule };

const WORD: Exempt = { because: "one of a few words of our own" };
const NUMBERS: Exempt = { because: "made of the numbers of steps" };
const RANDOM: Exempt = { because: "chosen by the runner at random" };
const DIGEST: Exempt = { because: "a digest of what was masked before, or of what is public" };
const MACHINE: Exempt = { because: "says what the machine or the runner is; no job has a say in it" };
const SIGNAL: Exempt = { because: "the system's name of a signal" };
const TOLD_WHEN_READ: Omitted = { omittedBecause: "a variable is told by an event of its own when a step reads it" };
const ALL_SECRET: Omitted = { omittedBecause: "nothing but secrets, which the masker has" };
const LOOK_UP: Omitted = { omittedBecause: "a function, which JSON cannot hold" };

const failure = { code: WORD, message: "text" } satisfies RulesOf<StepFailure>;

const places = {
  workDir: "text",
  stepDir: "text",
  jobTmp: "text",
  outputFile: "text",
  exportFile: "text",
} satisfies RulesOf<Places>;

/** The fields of a component or a program, and how each is redacted. */
export const RESOURCE_RULES: RulesOf<Resource> = {
  kind: WORD,
  uri: "address",
  requestedVersion: "text",
  resolvedVersion: "text",
  digest: "text",
  nativeTreeId: "text",
  isMutable: "text",
  downloadLocation: "address",
};

const stream = { sha256: DIGEST, bytes: "text", lines: "text" } satisfies RulesOf<LogStreamDigest>;

const log = {
  stdout: stream,
  stderr: stream,
  file: NUMBERS,
  indexFile: NUMBERS,
  storedBytes: "text",
  droppedBytes: "text",
  inline: "inline",
} satisfies RulesOf<LogSummary>;

const annotation = {
  level: WORD,
  message: "text",
  title: "text",
  file: "text",
  line: "text",
  endLine: "text",
  column: "text",
  endColumn: "text",
} satisfies RulesOf<Annotation>;

const job = {
  entry: WORD,
  name: "text",
  source: "text",
  includedFiles: { name: "text", digest: DIGEST } satisfies RulesOf<IncludedFile>,
  specDefinition: "definition",
  positionOf: LOOK_UP,
  inputs: "values",
  vars: TOLD_WHEN_READ,
  env: "environment",
  offeredEnv: TOLD_WHEN_READ,
  grants: "values",
  maskedValues: ALL_SECRET,
  mode: {
    compat: WORD,
    isStrictMoa: "text",
    isStrictVars: "text",
    warnsOfSensitive: "text",
  } satisfies RulesOf<RunMode>,
  workDir: "text",
  baseDir: "text",
  workspace: { root: "text", projectDir: "text" } satisfies RulesOf<NonNullable<Job["workspace"]>>,
  stores: "text",
} satisfies RulesOf<Job>;

const runtime = {
  os: MACHINE,
  arch: MACHINE,
  kernel: MACHINE,
  osRelease: MACHINE,
  libc: MACHINE,
  node: MACHINE,
  timezone: MACHINE,
  umask: MACHINE,
} satisfies RulesOf<RuntimeRecord>;

/** The fields of all events, and which of them may be stored unchanged. */
export const EVENT_RULES: {
  readonly [Type in StepEvent["type"]]: RulesOf<Extract<StepEvent, { readonly type: Type }>>;
} = {
  "run-started": {
    type: WORD,
    at: "text",
    traceId: RANDOM,
    parentTraceId: RANDOM,
    job,
    runner: { name: MACHINE, version: MACHINE },
    runtime,
  },
  "step-opened": { type: WORD, at: "text", path: NUMBERS, name: "text", reference: "reference", phase: WORD },
  "variable-read": { type: WORD, at: "text", path: NUMBERS, name: "text", value: "value", isInherited: "text" },
  "component-resolved": {
    type: WORD,
    at: "text",
    path: NUMBERS,
    resource: "resource",
    fetch: { isHit: "text", bytes: "text", durationMs: "text" } satisfies RulesOf<FetchReport>,
  },
  "step-planned": {
    type: WORD,
    at: "text",
    path: NUMBERS,
    specDefinition: "definition",
    definitionDigest: DIGEST,
    component: "resource",
    subpath: "text",
    reference: "reference",
    inputs: "values",
    invocation: { inputs: "values", env: "values" },
    secrets: "values",
    definitionEnv: "values",
    places,
  },
  "process-starting": {
    type: WORD,
    at: "text",
    path: NUMBERS,
    command: "command",
    workDir: "text",
    env: "environment",
    envDeniedCount: "text",
    tools: "resources",
    places,
  },
  "process-started": { type: WORD, at: "text", path: NUMBERS, pid: "text" },
  "secret-found": { type: WORD, at: "text", path: NUMBERS, values: "found" },
  "step-finished": {
    type: WORD,
    at: "text",
    path: NUMBERS,
    status: WORD,
    exitCode: "text",
    signal: SIGNAL,
    error: failure,
    outputs: "values",
    exports: "values",
    delegateOf: "text",
    skipReason: "text",
    conclusion: WORD,
    annotations: annotation,
    summary: "text",
    log,
  },
  note: { type: WORD, at: "text", path: NUMBERS, level: WORD, code: WORD, message: "text" },
  "run-finished": {
    type: WORD,
    at: "text",
    outcome: { status: WORD, exitCode: "text", signal: SIGNAL, error: failure } satisfies RulesOf<Outcome>,
    outputs: "values",
  },
};
