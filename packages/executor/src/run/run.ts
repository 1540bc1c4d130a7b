import {
  type Environment,
  type EnvironmentRecord,
  type FetchReport,
  type Job,
  type Observe,
  type Position,
  type Resource,
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

/** A job to execute, and what is true of this run of it alone. */
export interface ExecuteRequest {
  readonly job: Job;
  /** The names and patterns of variables that fetched steps may export though they run code in programs of others. Default: none. */
  readonly allowedExports?: readonly string[];
  /** The private directory of the run, for output files and pipes: absolute and existing. */
  readonly jobTmp: string;
  /** The time between TERM and KILL, in milliseconds. */
  readonly graceMs: number;
  /** Ends the grace of processes that are being ended as soon as it is aborted, for a user who asks a second time. Default: never. */
  readonly hurry?: AbortSignal;
  /** A text of this run alone, which every process carries in its environment as `STEP_RUNNER_COOKIE`. */
  readonly cookie: string;
  /** The cookies of the runs that this one is a step of, so that they find its processes too. Absent for a run inside no other. */
  readonly outerCookie?: string;
  /** The store of pipes that exist already. Default: the run makes its own. */
  readonly pipeReserve?: PipeReserve;
  /** Ends the processes if the runner is killed, and makes pipes until then. Absent: a killed runner leaves its processes. */
  readonly reaper?: Reaper;
  /** The number of processes after which a smaller process is started that starts all others. Default: see `Spawner`. */
  readonly spawnerAfter?: number;
  /** The time that the whole job may take, in milliseconds. Default: as long as it needs. */
  readonly timeoutMs?: number;
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
export interface Run extends Pick<
  ExecuteRequest,
  "job" | "allowedExports" | "jobTmp" | "graceMs" | "hurry" | "cookie" | "outerCookie"
> {
  /** The environment that every step starts from: the job's `env`. */
  readonly environment: Environment;
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
