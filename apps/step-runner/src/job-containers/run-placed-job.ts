import type { Engine, RunHooks, RunOptions, RunResult } from "@steps/engine";
import type { AttemptResult } from "@steps/engine/pipeline";
import { userDirectories } from "@steps/engine/runs";
import type { OpenContainers } from "@steps/job-containers";
import type { Outcome } from "@steps/model";
import { absolute } from "../absolute.ts";
import type { FetchOptions } from "../run-flags.ts";
import type { JobPlace } from "./place-job.ts";

/** How a run ended, wherever it was. */
export type JobRun = AttemptResult & Pick<RunResult, "exitCode" | "result" | "unmaskable" | "partlyEncoded">;

/** A run of a job in its place. */
export interface PlacedRun {
  /** The place; on this machine by default. */
  readonly place?: JobPlace | undefined;
  readonly options: RunOptions;
  /** Of a job in a container, the only events are notes on the container. */
  readonly hooks: Omit<RunHooks, "onOutput"> & {
    readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array) => void | Promise<void>;
    /** Told the name of each step of a job in a container whose process is seen to run. */
    readonly onStep?: (name: string) => void;
  };
  readonly signal: AbortSignal;
  /** Whether the job's folder is a copy that it has for itself. Default: no, it is the user's own. */
  readonly isPrivate?: boolean;
  /** Called when a job in a container has ended, while the container is still there. Default: nothing is done then. */
  readonly atEnd?: (outcome: Outcome, container: OpenContainers) => Promise<void>;
}

/** The flags that a run in a container takes from the command. */
export type PlacedOptions = Pick<FetchOptions, "git" | "mirror" | "offline" | "legacyRefs"> & {
  readonly stateDir: string | undefined;
};

/** Runs a job where it has its place, and gives the same wherever that is. */
export async function runPlacedJob(engine: Engine, flags: PlacedOptions, run: PlacedRun): Promise<JobRun> {
  const { place, options, hooks, signal } = run;
  if (place?.kind === "containers") {
    const { runInContainers } = await import("./run-in-containers.ts");
    const stateDir = absolute(flags.stateDir ?? userDirectories(process.env).state);
    return await runInContainers(engine, {
      ...run,
      containers: place.containers,
      stateDir,
      serveFlags: serveFlags(flags),
    });
  }
  const notes = place?.kind === "host" ? place.notes : undefined;
  const unbegun = place?.kind === "refused" ? refusal(place.message) : undefined;
  return await engine.run({ ...options, notes, unbegun }, hooks, signal);
}

function refusal(message: string): Outcome {
  return { status: "error", error: { code: "CONTAINER_FAILED", message } };
}

function serveFlags({ git, mirror, offline, legacyRefs }: PlacedOptions): readonly string[] {
  return [
    `--git=${git}`,
    ...Object.entries(mirror).map(([prefix, other]) => `--mirror=${prefix}=${other}`),
    ...(offline ? ["--offline"] : []),
    ...(legacyRefs ? [] : ["--no-legacy-refs"]),
  ];
}
