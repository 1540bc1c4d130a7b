import type {
  Annotation,
  FetchReport,
  LogStreamDigest,
  LogSummary,
  Outcome,
  Places,
  Resource,
  RunMode,
  RunRequestRecord,
  RuntimeRecord,
  StepEvent,
  StepFailure,
} from "@steps/model";

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

/** `"text"`: whatever it is, every text in it is masked. Of a list the rule is that of its items. */
export type Rule = "text" | Kind | Exempt | Rules;

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

const request = {
  entry: WORD,
  definition: "definition",
  inputs: "values",
  env: "environment",
  secrets: "values",
  mode: { compat: WORD, isStrictMoa: "text", warnsOfSensitive: "text" } satisfies RulesOf<RunMode>,
  jobName: "text",
  source: "text",
  workDir: "text",
  baseDir: "text",
} satisfies RulesOf<RunRequestRecord>;

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
    request,
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
