import type { FunctionTable } from "@steps/expression";
import type { Job, RuntimeValue } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";
import type { Position } from "@steps/model/diagnostic";
import type { Environment, EnvironmentRecord } from "@steps/model/environment";
import type { FetchReport, Observe, Resource, StepEvent } from "@steps/model/event";
import type { StepReference } from "@steps/model/reference";
import type { ActionRunner } from "./action-runner.ts";
import type { OutputPipePool } from "../output/output-pipes.ts";
import type { PipeReserve } from "../output/pipe-reserve.ts";
import type { LeftProcesses } from "../process/left-processes.ts";
import type { Moment } from "../process/proc.ts";
import type { ProcessLimit } from "../process/process-limit.ts";
import type { Reaper } from "../process/reaper.ts";
import type { Slots } from "../process/slots.ts";
import type { Spawner } from "../process/spawner/spawner.ts";
import type { StepLog } from "../output/step-log.ts";
import type { SpareFiles } from "./spare-files.ts";
import type { JobContexts } from "./variables.ts";

/** A job to execute, and what is true of this run of it alone. */
export interface ExecuteRequest {
  readonly job: Job;
  /**
   * The names and patterns of variables that fetched steps may export though they run code in programs of others. Default:
   * none.
   */
  readonly allowedExports?: readonly string[];
  /** The private directory of the run, for output files and pipes: absolute and existing. */
  readonly jobTmp: string;
  /** The time between TERM and KILL, in milliseconds. */
  readonly graceMs: number;
  /**
   * Ends the grace of processes that are being ended as soon as it is aborted, for a user who asks a second time. Default:
   * never.
   */
  readonly hurry?: AbortSignal;
  /** A text of this run alone, which every process carries in its environment as `STEP_RUNNER_COOKIE`. */
  readonly cookie: string;
  /**
   * The cookies of the runs that this one is a step of, so that they find its processes too. Absent for a run inside no
   * other.
   */
  readonly outerCookie?: string;
  /** The store of pipes that exist already. Default: the run makes its own. */
  readonly pipeReserve?: PipeReserve;
  /** Ends the processes if the runner is killed, and makes pipes until then. Absent: a killed runner leaves its processes. */
  readonly reaper?: Reaper;
  /** Starts the processes of this run and of others. Default: the run has one of its own. */
  readonly spawner?: Spawner;
  /** The limit of processes at once. Default: the one that all runs of this program share. */
  readonly processes?: ProcessLimit;
  /** The number of processes after which a smaller process is started that starts all others. Default: see `Spawner`. */
  readonly spawnerAfter?: number;
  /** The time that the whole job may take, in milliseconds. Default: as long as it needs. */
  readonly timeoutMs?: number;
}

/** The place that a reference is written in. */
export interface LoadFrom {
  /** The directory that local references are relative to. */
  readonly dir: string;
  /** The root of the tree that local references must stay in; `undefined` when they may leave it. */
  readonly root: string | undefined;
}

/** A step that was fetched and compiled. */
export interface LoadedStep {
  readonly specDefinition: SpecDefinition;
  /** The SHA-256 of the canonical JSON of `specDefinition`. */
  readonly definitionDigest: string;
  /** The absolute path of `step_dir`, which its local references are relative to. */
  readonly dir: string;
  readonly root: string | undefined;
  readonly component: Resource | undefined;
  readonly fetch: FetchReport | undefined;
  /** The path of the step file inside the component. */
  readonly subpath: string;
  /** Functions that the command of the definition may call besides those of every expression. Absent: none. */
  readonly functions?: FunctionTable;
  /** Puts the files into `dir`; called before anything of the step runs. Absent when they are there already. */
  readonly bring?: () => Promise<void>;
  /**
   * The place of a JSON pointer into the encoded `specDefinition`, such as `/definition/exec/command/0`. Absent without a
   * text.
   */
  readonly positionOf?: (pointer: string) => Position | undefined;
}

/** Fetches and compiles a step; never asked for a dynamic or an inline reference. @throws {StepsError} */
export type LoadStep = (reference: StepReference, from: LoadFrom, options: LoadStepOptions) => Promise<LoadedStep>;

interface LoadStepOptions {
  readonly signal: AbortSignal;
  /** The path of the step. */
  readonly path: string;
  /** The environment of the caller. */
  readonly env: EnvironmentRecord;
  /** The names of the inputs that the invocation gives. */
  readonly inputNames: readonly string[];
  /** The values of an action's inputs that are known already, as texts. Absent for a step. */
  readonly knownInputs?: Readonly<Record<string, string>>;
}

/** The functions that the executor asks others for. */
export interface ExecuteHooks {
  readonly loadStep: LoadStep;
  readonly observe: Observe;
  /** Called once for each process, before it starts. */
  readonly openLog: (path: string) => StepLog;
  /** Makes the runner of actions; called once in a run, when the first action comes. Absent when actions cannot be run. */
  readonly actions?: () => Promise<ActionRunner>;
}

/** The parts of a run that all its steps share. */
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
  /** The limit of processes at once, of all runs that share it. */
  readonly processes: ProcessLimit;
  /** The limit of processes that are being started at the same time. */
  readonly starts: Slots;
  /** The files that steps have handed back untouched. */
  readonly spareFiles: SpareFiles;
  readonly contexts: JobContexts;
  /** The context `job.inputs`, which is filled when the inputs are checked. */
  readonly jobInputs: Record<string, RuntimeValue>;
  readonly state: RunState;
  /** The step of a parallel list that this part of the run is. Absent where one step runs at a time. */
  readonly branch?: string;
  /** Keeps the processes that steps leave running until the end of the job. Absent when they end with their step. */
  readonly left?: LeftProcesses;
  /** True for a part of the run that cleans up, and therefore runs though the run was aborted. Default: false. */
  readonly isCleanUp?: boolean;
}

/** The state that changes while a run goes on, the same for all its parts. */
interface RunState {
  /** The path of the step whose expressions are being expanded, to tell who reads a variable. */
  readingPath: string;
  /** The moment before the first process of the run was started; `undefined` until then. */
  since: Moment | undefined;
  /** The error that `observe` threw: the run cannot go on, since nobody would know of it. `undefined` while there is none. */
  observeFailure: { readonly error: unknown } | undefined;
  /** True when a step of the job's own list has failed that was not allowed to. */
  hasFailed: boolean;
  /** True when the job was cancelled. */
  isCancelled: boolean;
  /** The runner of actions; `undefined` until the first one comes. */
  actions: Promise<ActionRunner> | undefined;
  /** The variables that the job does not have, and that it was said of. */
  unknownVariables: Set<string>;
  /** True when it was said that processes wait for others to end. */
  isWaitNoted: boolean;
  /** The number of the next phase among the children of the job, behind all its steps. */
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
