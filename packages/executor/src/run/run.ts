import {
  type Environment,
  type EnvironmentRecord,
  type FetchReport,
  type Observe,
  type Position,
  type Resource,
  type RunMode,
  type RuntimeString,
  type RuntimeValue,
  type SpecDefinition,
  type StepEvent,
  type StepReference,
} from "@steps/model";
import type { ActionRunner } from "./action-runner.ts";
import type { OutputPipePool } from "../output/output-pipes.ts";
import type { PipeReserve } from "../output/pipe-reserve.ts";
import type { LeftProcesses } from "../process/left-processes.ts";
import type { Moment } from "../process/proc.ts";
import type { Reaper } from "../process/reaper.ts";
import type { Slots } from "../process/slots.ts";
import type { Spawner } from "../process/spawner/spawner.ts";
import type { StepLog } from "../output/step-log.ts";
import type { JobContexts } from "./variables.ts";

/** A compiled job and everything it starts from. */
export interface ExecuteRequest {
  readonly specDefinition: SpecDefinition;
  /** Of the job; texts may stand for values of any type, as on a command line. */
  readonly inputs: Readonly<Record<string, RuntimeValue>>;
  /** Job variables: `vars` in expressions, no part of any process's environment. */
  readonly vars: Readonly<Record<string, RuntimeString>>;
  readonly environment: Environment;
  /** Variables that a step of the user's own may name in `inherit_env` though they are not in `environment`. */
  readonly offeredEnv?: EnvironmentRecord;
  /** What the job can grant its steps, all of it marked; masked job variables can be granted too. */
  readonly secrets?: EnvironmentRecord;
  readonly mode?: RunMode;
  /** Names and patterns of variables that fetched steps may export though they run code in programs of others. */
  readonly allowedExports?: readonly string[];
  /** Absolute, existing: where processes start. */
  readonly workDir: string;
  /** Absolute: where local references of the job start. */
  readonly baseDir: string;
  /** Absolute, an existing private directory: output files and pipes live here. */
  readonly jobTmp: string;
  /** Between TERM and KILL. */
  readonly graceMs: number;
  /** Ends the grace of what is being ended when it is aborted: for a user who asks a second time. */
  readonly hurry?: AbortSignal;
  /** A text of this run alone: put into the environment of every process as `STEP_RUNNER_COOKIE`. */
  readonly cookie: string;
  /** The cookies of the runs that this one is a step of, so that they find its processes too. */
  readonly outerCookie?: string;
  /** Pipes that are there already. */
  readonly pipeReserve?: PipeReserve;
  /** Ends the processes if we are killed, and makes pipes until then. */
  readonly reaper?: Reaper;
  /** So many processes are started by ourselves before a smaller process is started that starts the others. */
  readonly spawnerAfter?: number;
  /** For the whole job. */
  readonly timeoutMs?: number;
  /** Where a JSON pointer into the encoded `specDefinition` was written: `/definition/exec/command/0`. */
  readonly positionOf?: (pointer: string) => Position | undefined;
}

/** Where a reference is written. */
export interface LoadFrom {
  /** Local references are relative to it. */
  readonly dir: string;
  /** The tree that local references must stay in. */
  readonly root: string | undefined;
}

/** A step that was fetched and compiled. */
export interface LoadedStep {
  readonly specDefinition: SpecDefinition;
  /** SHA-256 of its canonical JSON. */
  readonly definitionDigest: string;
  /** Absolute: `step_dir`, and where its local references start. */
  readonly dir: string;
  readonly root: string | undefined;
  readonly component: Resource | undefined;
  readonly fetch: FetchReport | undefined;
  /** The step file inside the component. */
  readonly subpath: string;
  /** Puts the files into `dir`: to be called before anything of the step runs. Absent: they are there. */
  readonly bring?: () => Promise<void>;
  /** Where a JSON pointer into the encoded `specDefinition` was written: `/definition/exec/command/0`. */
  readonly positionOf?: (pointer: string) => Position | undefined;
}

/** Fetches and compiles a step; never asked for a dynamic or an inline reference. @throws {StepsError} */
export type LoadStep = (reference: StepReference, from: LoadFrom, options: LoadStepOptions) => Promise<LoadedStep>;

export interface LoadStepOptions {
  readonly signal: AbortSignal;
  /** Of the step. */
  readonly path: string;
  /** Of the caller. */
  readonly env: EnvironmentRecord;
  /** The inputs that the invocation gives. */
  readonly inputNames: readonly string[];
  /** Of an action: the values of those that are known already, as texts. */
  readonly knownInputs?: Readonly<Record<string, string>>;
}

/** What the executor needs of others. */
export interface ExecuteHooks {
  readonly loadStep: LoadStep;
  readonly observe: Observe;
  /** Called once for each process, before it starts. */
  readonly openLog: (path: string) => StepLog;
  /** Makes what runs the actions of a run; called once, when the first one comes. Absent: there are no actions. */
  readonly actions?: () => Promise<ActionRunner>;
}

/** What all steps of one run share. */
export interface Run {
  readonly request: ExecuteRequest;
  readonly hooks: ExecuteHooks;
  readonly signal: AbortSignal;
  readonly pipes: OutputPipePool;
  readonly spawner: Spawner;
  /** Of the starts of processes. */
  readonly starts: Slots;
  readonly contexts: JobContexts;
  /** `job.inputs`; filled when they are checked. */
  readonly jobInputs: Record<string, RuntimeValue>;
  readonly state: RunState;
  /** The step of a parallel list that this part of the run is; absent where one step runs at a time. */
  readonly branch?: string;
  /** What steps leave running lives until the end of the job; absent: it ends with its step. */
  readonly left?: LeftProcesses;
  /** The part of the run that this is cleans up: it runs though the run was aborted. */
  readonly isCleanUp?: boolean;
}

/** What changes while a run goes on, the same for all its parts. */
export interface RunState {
  /** The step whose expressions are being expanded: who reads a variable. */
  readingPath: string;
  /** Before the first process was started. */
  since: Moment | undefined;
  /** What `observe` threw: the run cannot go on, since nobody would know of it. */
  observeFailure: { readonly error: unknown } | undefined;
  /** Of the job's own list: a step that was not allowed to has failed, or the job was cancelled. */
  hasFailed: boolean;
  isCancelled: boolean;
  /** The runner of actions; `undefined` until the first one comes. */
  actions: Promise<ActionRunner> | undefined;
  /** The places of phases among the children of the job: behind all its steps. */
  nextPhase: number;
}

/** Tells an event; an observer that throws ends the run. */
export function tell(run: Run, event: StepEvent): void {
  const { state } = run;
  if (state.observeFailure) throw state.observeFailure.error;
  try {
    run.hooks.observe(event);
  } catch (error) {
    state.observeFailure = { error };
    throw error;
  }
}
