import { mkdirSync } from "node:fs";
import type { Engine, RunOptions } from "@steps/engine";
import type { ContainerOptions, ContainerRunOptions, SharedFolder, WantedContainers } from "@steps/job-containers";
import {
  isStepsError,
  type Job,
  mapObject,
  messageOf,
  type Outcome,
  reveal,
  revealString,
  Sensitive,
} from "@steps/model";
import { encodeSpecDefinition } from "@steps/compiler";
import { createMasker } from "@steps/trace/mask";
import { storesAmong } from "../files/job-stores.ts";
import { containerProgram } from "./container-program.ts";
import type { JobContainers } from "./place-job.ts";
import { sweepOnce } from "./sweep-once.ts";
import type { JobRun, PlacedRun } from "./run-placed-job.ts";

/** A run of a job in containers. */
export interface ContainersRun extends Omit<PlacedRun, "place"> {
  readonly containers: JobContainers;
  /** The state directory of the runner: absolute. */
  readonly stateDir: string;
  /** Flags of the service in the container: how components are fetched. */
  readonly serveFlags: readonly string[];
}

type Note = NonNullable<RunOptions["notes"]>[number];

/** Notes that a service accepts. */
const MAX_NOTES = 90;
const MAX_NOTE_CHARS = 1000;

/**
 * Runs a job as the engine does, with `job.workDir` as its project, but in containers: what `engine.run()` does here, a service in
 * the container does there. A job whose containers cannot be had ends with an error that the trace tells.
 */
export async function runInContainers(engine: Pick<Engine, "run">, placed: ContainersRun): Promise<JobRun> {
  const { containers, stateDir, options, hooks, signal, atEnd } = placed;
  const { projectDir } = containers;
  const { runInContainers: run } = await import("@steps/job-containers");
  const notes: Note[] = [...(options.notes ?? [])];
  const note = (level: Note["level"], code: string, text: string): void => {
    const message = text.slice(0, MAX_NOTE_CHARS);
    if (notes.length < MAX_NOTES) notes.push({ level, code, message });
    hooks.onEvent?.({ type: "note", at: Date.now(), path: "", level, code, message });
  };
  const { job, timeoutMs, hurry, graceMs } = options;
  const { onOutput, onStep, wantsResult = false } = hooks;
  try {
    await sweepOnce(containers.cli, stateDir);
    if (options.isLenient === true || job.mode !== undefined)
      note(
        "warning",
        "container-warning",
        "How steps are read (--lenient, --compat, …) is not honoured in a container",
      );
    const { trace, ...ended } = await run(wantedOf(placed), {
      ...containerOptions(placed),
      say: (text) => note("info", "container", text),
      warn: (text) => note("warning", "container-warning", text),
      requestOf: ({ image: { id, digest } }) => {
        note("info", "container-image", `The job runs in a container of ${containers.image.name}: ${digest ?? id}`);
        return { ...requestOf(job), graceMs, notes };
      },
      onOutput,
      onStep,
      wantsResult,
      // It tells who the run was.
      wantsTrace: true,
      hurry,
      timeoutMs,
      atEnd: async ({ outcome }, { container: name }) => atEnd?.(outcome, { cli: containers.cli, name, projectDir }),
    });
    const { traceId = "", integrity } = trace ?? {};
    const journalRoot = integrity?.journalRoot ?? "";
    return { ...ended, ...maskingOf(job), directory: { traceId }, journalRoot, trace: () => present(trace) };
  } catch (error) {
    // The engine knows what becomes of a job that was cancelled before it began.
    const unbegun = signal.aborted ? undefined : outcomeOf(error);
    // The notes have been told.
    const onEvent: typeof hooks.onEvent = (event) => event.type === "note" || hooks.onEvent?.(event);
    return await engine.run({ ...options, notes, unbegun }, { ...hooks, onEvent }, signal);
  }
}

function present(trace: ReturnType<JobRun["trace"]> | undefined): ReturnType<JobRun["trace"]> {
  if (trace === undefined) throw new Error("The trace of the job cannot be had");
  return trace;
}

function containerOptions({
  containers: { cli },
  stateDir,
  serveFlags,
  signal,
}: ContainersRun): Pick<ContainerOptions, "cli" | "stateDir" | "programDir" | "serveFlags" | "signal"> {
  return { cli, stateDir, programDir: containerProgram(stateDir), serveFlags, signal };
}

function outcomeOf(error: unknown): Outcome {
  if ((error as Error | null)?.name === "TimeoutError") return { status: "timeout" };
  const hint = isStepsError(error) && error.hint !== undefined ? ` (${error.hint})` : "";
  const code = isStepsError(error) ? error.code : "CONTAINER_FAILED";
  return { status: "error", error: { code, message: `${messageOf(error)}${hint}` } };
}

function wantedOf({ containers, options: { job }, isPrivate = false }: ContainersRun): WantedContainers {
  const { image, services, isPrivileged, projectDir } = containers;
  return {
    image,
    services,
    // As GitLab's runner has it, a service is given all variables of the job.
    serviceEnv: mapObject(job.vars, revealString),
    project: { source: job.workDir, target: projectDir, isPrivate },
    stores: storesAmong(job.inputs).map(openStore),
    isPrivileged,
  };
}

/** A store has the same path on both sides. */
function openStore(path: string): SharedFolder {
  mkdirSync(path, { recursive: true });
  return { source: path, target: path };
}

function requestOf(job: Job): ReturnType<ContainerRunOptions["requestOf"]> {
  const maskedEnv = Object.values(job.env).filter((value) => value instanceof Sensitive);
  return {
    definition: JSON.stringify(encodeSpecDefinition(job.specDefinition)),
    // The request carries the compiled job, whose lines are not those of the file.
    source: `${job.source} (compiled)`,
    name: job.name,
    env: mapObject(job.env, revealString),
    variables: mapObject(job.vars, (value) => ({ value: revealString(value), isMasked: value instanceof Sensitive })),
    inputs: mapObject(job.inputs, reveal),
    grants: job.grants && mapObject(job.grants, revealString),
    maskedValues: [...(job.maskedValues ?? []), ...maskedEnv.map(revealString)],
  };
}

/** The notes on secrets that cannot be masked; the service does not tell of them. */
function maskingOf(job: Job): Pick<JobRun, "unmaskable" | "partlyEncoded"> {
  const masker = createMasker();
  const marked = [...Object.values(job.vars), ...Object.values(job.env), ...Object.values(job.grants ?? {})];
  for (const value of marked) if (value instanceof Sensitive) masker.add(revealString(value));
  for (const value of job.maskedValues ?? []) masker.add(value);
  return { unmaskable: masker.unmaskable, partlyEncoded: masker.partlyEncoded };
}
