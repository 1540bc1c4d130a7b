import { toJson } from "@bufbuild/protobuf";
import { type ClientState, type JobRequest, runAndFollow } from "@steps/client";
import { ContainerError } from "@steps/containers";
import { checkOptionNames, type OptionNames, exitCodeOf, type Outcome, type Status } from "@steps/model";
import {
  RunStatus,
  type StepResult,
  StepResult_Status,
  type StepResultJson,
  StepResultSchema,
  type TraceJson,
} from "@steps/proto";
import { Job_JobStatus, type Job } from "@steps/proto/service";
import {
  CONTAINER_OPTION_NAMES,
  type ContainerOptions,
  openContainers,
  type OpenContainers,
} from "./open-containers.ts";
import type { WantedContainers } from "./wanted.ts";

/** How a job in containers is run and followed. */
export interface ContainerRunOptions extends ContainerOptions {
  /** Gives the job for the service in the container, once the container runs. Its `env` is put above that of the image. */
  readonly requestOf: (containers: OpenContainers) => Omit<JobRequest, "workDir" | "timeoutMs">;
  /** Takes the job's output; while its promise is pending, nothing more is read. */
  readonly onOutput?: ((stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>) | undefined;
  /** Told the name of each step whose process is seen to run. */
  readonly onStep?: ((name: string) => void) | undefined;
  readonly wantsResult: boolean;
  readonly wantsTrace: boolean;
  /** Ends the grace of a job that was cancelled. */
  readonly hurry?: AbortSignal | undefined;
  /** How long the making of the containers and the job may take together, in milliseconds. Default: as long as they need. */
  readonly timeoutMs?: number | undefined;
  /** Called when the job has ended, while its container is still there. Default: nothing is done then. */
  readonly atEnd?: ((ended: ContainerRun, containers: OpenContainers) => Promise<void>) | undefined;
}

/** A job in a container that has ended. */
export interface ContainerRun {
  readonly outcome: Outcome;
  readonly exitCode: number;
  /** Present if it was wanted and could be had. */
  readonly result: StepResultJson | undefined;
  /** Present if it was wanted and could be had. */
  readonly trace: TraceJson | undefined;
}

/** How long the service in the container has to answer the first time. */
const CONNECT_MS = 30_000;
/** How long a connection is looked for that was lost: the container is on this machine. */
const RECONNECT_MS = 10_000;

const OPTION_NAMES: OptionNames<ContainerRunOptions> = {
  requestOf: true,
  onOutput: true,
  onStep: true,
  wantsResult: true,
  wantsTrace: true,
  hurry: true,
  timeoutMs: true,
  atEnd: true,
  ...CONTAINER_OPTION_NAMES,
};

/**
 * Runs a job in containers of its own: the service in the job's container runs it, and it is followed from here to its end.
 *
 * @throws {ContainerError} CONTAINER_FAILED; the reason of the signal, or of the timeout, that ended the making of the containers; what
 * the client throws when the service is lost while its container still runs
 */
export async function runInContainers(wanted: WantedContainers, options: ContainerRunOptions): Promise<ContainerRun> {
  checkOptionNames("runInContainers()", options, OPTION_NAMES);
  const { timeoutMs, signal, cli, stateDir, programDir, credentialsFor, serveFlags, say, warn, kept } = options;
  const begin = performance.now();
  const stop = timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  await using containers = await openContainers(wanted, {
    cli,
    stateDir,
    programDir,
    credentialsFor,
    serveFlags,
    say,
    warn,
    kept,
    signal: stop,
  });
  const leftMs = timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - (performance.now() - begin));
  const ended = await follow(wanted, containers, { ...options, timeoutMs: leftMs });
  await options.atEnd?.(ended, containers);
  return ended;
}

async function follow(
  { project }: WantedContainers,
  containers: OpenContainers,
  options: ContainerRunOptions,
): Promise<ContainerRun> {
  const { requestOf, timeoutMs, signal, hurry, onOutput, onStep, wantsResult, wantsTrace, warn } = options;
  const request = requestOf(containers);
  const env = { ...containers.image.env, ...request.env };
  try {
    const { job, exitCode, result, trace } = await runAndFollow(
      containers.dial,
      { ...request, workDir: project.target, env, timeoutMs },
      {
        signal,
        hurry,
        onOutput,
        onResult: onStep && reportSteps(onStep),
        onState: (state) => reportState(state, warn),
        wantsResult,
        wantsTrace,
        connectWindowMs: CONNECT_MS,
        reconnectWindowMs: RECONNECT_MS,
      },
    );
    const outcome = outcomeOf(job, exitCode, signal);
    return {
      outcome,
      exitCode: exitCodeOf(outcome),
      result: result && toJson(StepResultSchema, result),
      trace: trace && (JSON.parse(Buffer.from(trace).toString()) as TraceJson),
    };
  } catch (error) {
    const problem = signal.aborted ? undefined : await containers.problem().catch(() => undefined);
    throw problem === undefined ? error : new ContainerError("CONTAINER_FAILED", problem, { cause: error });
  }
}

function outcomeOf(job: Job, exitCode: number, signal: AbortSignal): Outcome {
  const { error } = job;
  const status = statusOf(job);
  // The service is told to cancel a job, not by which signal.
  const { signalName } = (signal.reason ?? {}) as { readonly signalName?: string };
  return {
    status,
    exitCode: error?.code === "EXIT_STATUS" ? exitCode : undefined,
    signal: status === "cancelled" ? signalName : undefined,
    error: error && { code: error.code, message: error.message },
  };
}

const STATUSES: ReadonlyMap<number, Status> = new Map([
  [RunStatus.success, "success"],
  [RunStatus.failure, "failure"],
  [RunStatus.error, "error"],
  [RunStatus.timeout, "timeout"],
  [RunStatus.cancelled, "cancelled"],
  [RunStatus.skipped, "skipped"],
  [RunStatus.interrupted, "interrupted"],
]);

function statusOf({ runStatus = RunStatus.run_status_unspecified, status }: Job): Status {
  return STATUSES.get(runStatus) ?? (status === Job_JobStatus.suceeded ? "success" : "failure");
}

/** Says each step once, when it is first seen to run; one that is shorter than the way here is not seen. */
function reportSteps(onStep: (name: string) => void): (result: StepResult) => void {
  const seen = new Set<string>();
  const visit = ({ status, step, subStepResults }: StepResult, path: string): void => {
    subStepResults.forEach((child, index) => visit(child, `${path}/${index}`));
    if (status !== StepResult_Status.running || subStepResults.length > 0 || seen.has(path)) return;
    seen.add(path);
    if (step !== undefined) onStep(step.name);
  };
  return (result) => visit(result, "");
}

function reportState(state: ClientState, warn: (text: string) => void): void {
  if (state.type === "unavailable") warn(`The ${state.what} of the job cannot be had: ${state.reason}`);
}
