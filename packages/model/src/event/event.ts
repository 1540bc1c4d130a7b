import type { SpecDefinition, StepReference } from "../definition/definition.ts";
import type { Job } from "../job.ts";
import type { Resource } from "../reference/resource.ts";
import type { Outcome, Status, StepFailure } from "../status.ts";
import type { RuntimeString, RuntimeValue } from "../value/value.ts";

/**
 * The events that a run reports, each once and in order. The journal, the trace, the result tree, the progress on a
 * terminal and the answers on the wire are folds over this stream.
 *
 * Values carry their marks and literal paths; who stores or shows them redacts first. A step is named by its path:
 * `"0/2"` is the third child of the job's first step, `""` the job itself. `at` is the wall clock in milliseconds.
 */
export type StepEvent =
  | RunStarted
  | StepOpened
  | VariableRead
  | ComponentResolved
  | StepPlanned
  | ProcessStarting
  | ProcessStarted
  | SecretFound
  | StepFinished
  | RunNote
  | RunFinished;

/** The first event. */
export interface RunStarted {
  readonly type: "run-started";
  readonly at: number;
  /** The id of the run's trace: 32 hex digits. */
  readonly traceId: string;
  /** The id of the trace that the run repeats. Absent for a run that is no replay. */
  readonly parentTraceId?: string;
  readonly job: Job;
  readonly runner: { readonly name: string; readonly version: string };
  readonly runtime: RuntimeRecord;
}

/** The machine, as far as a runner can know it cheaply. */
export interface RuntimeRecord {
  readonly os: string;
  readonly arch: string;
  readonly kernel: string;
  readonly osRelease: string;
  readonly libc: string;
  readonly node: string;
  readonly timezone: string;
  readonly umask: string;
}

/** A step's turn has come; nothing of it was fetched yet. */
export interface StepOpened {
  readonly type: "step-opened";
  readonly at: number;
  readonly path: string;
  readonly name: string;
  /** Absent for the job. */
  readonly reference?: StepReference;
  /** The phase of a GitHub action that runs before or after the steps of the job; absent for all other steps. */
  readonly phase?: Phase;
}

/** When a part of a GitHub action runs that does not run in its place among the steps. */
export type Phase = "pre" | "post";

/** An expression read a job variable for the first time in this run: what nobody reads is not recorded. */
export interface VariableRead {
  readonly type: "variable-read";
  readonly at: number;
  readonly path: string;
  readonly name: string;
  readonly value: RuntimeString;
  /** True when the value comes from the runner's own environment because a step named it in `inherit_env`. */
  readonly isInherited?: boolean;
}

/** A component is here and verified. */
export interface ComponentResolved {
  readonly type: "component-resolved";
  readonly at: number;
  readonly path: string;
  readonly resource: Resource;
  readonly fetch: FetchReport;
}

/** The cost of bringing a component here. */
export interface FetchReport {
  readonly isHit: boolean;
  readonly bytes: number;
  readonly durationMs: number;
}

/** A step was fetched and compiled and its inputs and environment are known; its command or children come next. */
export interface StepPlanned {
  readonly type: "step-planned";
  readonly at: number;
  readonly path: string;
  readonly specDefinition: SpecDefinition;
  /** SHA-256 of the canonical JSON of `specDefinition`. */
  readonly definitionDigest: string;
  /** Absent for a step written in place. */
  readonly component?: Resource;
  /** The step file inside the component, `dir/step.yml`. */
  readonly subpath: string;
  /** The reference with its expressions expanded; absent for the job. */
  readonly reference?: StepReference;
  /** The inputs with their defaults. */
  readonly inputs: Readonly<Record<string, RuntimeValue>>;
  /** The invocation's own inputs and env, expanded. */
  readonly invocation: {
    readonly inputs: Readonly<Record<string, RuntimeValue>>;
    readonly env: Readonly<Record<string, RuntimeString>>;
  };
  /** The secrets that the step was granted, by name; all values are marked. */
  readonly secrets?: Readonly<Record<string, RuntimeValue>>;
  /** The definition's env, expanded. */
  readonly definitionEnv: Readonly<Record<string, RuntimeString>>;
  readonly places: Places;
}

/** Absolute paths that differ from run to run; the deterministic half of a trace names them instead. */
export interface Places {
  readonly workDir: string;
  readonly stepDir: string;
  readonly jobTmp: string;
  /** Absent until something asked for the file. */
  readonly outputFile?: string;
  readonly exportFile?: string;
}

/** Told before the process exists, so that a kill of the runner cannot hide what may have run. */
export interface ProcessStarting {
  readonly type: "process-starting";
  readonly at: number;
  readonly path: string;
  readonly command: readonly RuntimeString[];
  readonly workDir: string;
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, RuntimeString>>;
  /** How many variables of the runner's environment the process does not get. */
  readonly envDeniedCount?: number;
  /** The program, and the interpreter of a script. */
  readonly tools: readonly Resource[];
  readonly places: Places;
}

/** Told when the process of a step exists. `at` is in milliseconds since 1970. */
export interface ProcessStarted {
  readonly type: "process-started";
  readonly at: number;
  readonly path: string;
  readonly pid: number;
}

/** A process said that something is a secret: told before any more of its output is taken. */
export interface SecretFound {
  readonly type: "secret-found";
  readonly at: number;
  readonly path: string;
  /** The secret, then forms of it to be masked as they are; all of it is marked. */
  readonly values: readonly RuntimeValue[];
}

/** A message that a step wants to be seen, in the form of GitHub's workflow commands and problem matchers. */
export interface Annotation {
  readonly level: "notice" | "warning" | "error";
  readonly message: string;
  readonly title?: string;
  /** The path of the file as the step named it. */
  readonly file?: string;
  readonly line?: number;
  readonly endLine?: number;
  readonly column?: number;
  readonly endColumn?: number;
}

/** Describes the stored output of a step. */
export interface LogSummary {
  readonly stdout: LogStreamDigest;
  readonly stderr: LogStreamDigest;
  /** The path of the log, relative to the run's directory; absent when the step wrote nothing. */
  readonly file?: string;
  readonly indexFile?: string;
  readonly storedBytes: number;
  readonly droppedBytes: number;
  /** The log itself in base64, both streams in order of arrival, when it is short. */
  readonly inline?: string;
}

/** Describes a whole stream of output after masking. */
export interface LogStreamDigest {
  readonly sha256: string;
  readonly bytes: number;
  readonly lines: number;
}

/** Told when a step has ended, with all that it gives. `at` is in milliseconds since 1970. */
export interface StepFinished {
  readonly type: "step-finished";
  readonly at: number;
  readonly path: string;
  readonly status: Status;
  /** The exit code of the step's own process; absent when there is none. */
  readonly exitCode?: number;
  readonly signal?: string;
  readonly error?: StepFailure;
  readonly outputs: Readonly<Record<string, RuntimeValue>>;
  readonly exports: Readonly<Record<string, RuntimeString>>;
  readonly delegateOf?: string;
  /** Why the step did not run. */
  readonly skipReason?: string;
  /** The status that the list counts for the step when it differs from how the step ended: its failure was allowed. */
  readonly conclusion?: Status;
  readonly annotations?: readonly Annotation[];
  /** Markdown. */
  readonly summary?: string;
  readonly log?: LogSummary;
}

/** Something worth knowing. `error` explains a failure that the step's result also tells. */
export interface RunNote {
  readonly type: "note";
  readonly at: number;
  readonly path: string;
  readonly level: "debug" | "info" | "warning" | "error";
  /** Kebab-case and stable. */
  readonly code: string;
  readonly message: string;
}

/** The last event. */
export interface RunFinished {
  readonly type: "run-finished";
  readonly at: number;
  readonly outcome: Outcome;
  readonly outputs: Readonly<Record<string, RuntimeValue>>;
}

/** Takes the events of a run, in order. */
export type Observe = (event: StepEvent) => void;
