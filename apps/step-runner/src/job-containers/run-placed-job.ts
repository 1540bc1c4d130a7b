import type { ContainerCli } from "@steps/containers";
import type { Engine, RunHooks, RunOptions, RunResult } from "@steps/engine";
import type { AttemptResult } from "@steps/engine/pipeline";
import { userDirectories } from "@steps/engine/runs";
import type { Outcome } from "@steps/model";
import { absolute } from "../files/absolute.ts";
import type { LockOptions, SourceOptions } from "../flags/component-flags.ts";
import type { FetchOptions, RunOptions as RunFlagOptions } from "../flags/run-flags.ts";
import type { JobPlace } from "./place-job.ts";

/** How a run ended, wherever it was. */
export type JobRun = AttemptResult & Pick<RunResult, "exitCode" | "result" | "unmaskable" | "partlyEncoded">;

/** The container of a job that has ended. */
export interface EndedContainer {
  readonly cli: ContainerCli;
  readonly name: string;
  /** The path of the project in it: absolute. */
  readonly projectDir: string;
}

/** A run of a job in its place. */
export interface PlacedRun {
  /** The place; on this machine by default. */
  readonly place?: JobPlace | undefined;
  readonly options: RunOptions;
  /** Hears the events of the job. For a job in a container these are only the notes on the container. */
  readonly hooks: Omit<RunHooks, "onOutput"> & {
    readonly onOutput?: (stream: "stdout" | "stderr", chunk: Uint8Array, stepPath?: string) => void | Promise<void>;
    /** Told the name of each step of a job in a container whose process is seen to run. */
    readonly onStep?: (name: string) => void;
  };
  readonly signal: AbortSignal;
  /** Whether the job's folder is a copy that it has for itself. Default: no, it is the user's own. */
  readonly isPrivate?: boolean;
  /**
   * Called when a job that was begun has ended, while its container is still there; none on this machine. Default: nothing is done
   * then.
   */
  readonly atEnd?: ((outcome: Outcome, container: EndedContainer | undefined) => Promise<void>) | undefined;
}

/** The flags that a run in a container takes from the command. */
export type PlacedOptions = FetchOptions &
  SourceOptions &
  LockOptions &
  Pick<RunFlagOptions, "stateDir" | "allowExport">;

/** Runs a job where it has its place, and gives the same wherever that is. */
export async function runPlacedJob(engine: Engine, flags: PlacedOptions, run: PlacedRun): Promise<JobRun> {
  const { options, hooks, signal } = run;
  const place = honoured(flags, run.place);
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
  const ended = await engine.run({ ...options, notes, unbegun }, hooks, signal);
  if (unbegun === undefined) await run.atEnd?.(ended.outcome, undefined);
  return ended;
}

/** A lock and other sources of components are files here, which the service in the container does not see. */
function honoured(
  { locked, componentSource, actionSource }: PlacedOptions,
  place: PlacedRun["place"],
): PlacedRun["place"] {
  const hasSources = componentSource.length + actionSource.length > 0;
  if (place?.kind !== "containers" || !(locked || hasSources)) return place;
  const flag = locked ? "--locked" : "--component-source";
  const message = `${flag} is not honoured in containers; --executor host runs the job on this machine, without its image`;
  return { kind: "refused", message };
}

function refusal(message: string): Outcome {
  return { status: "error", error: { code: "CONTAINER_FAILED", message } };
}

function serveFlags({ git, mirror, offline, legacyRefs, allowExport }: PlacedOptions): readonly string[] {
  return [
    `--git=${git}`,
    ...Object.entries(mirror).map(([prefix, other]) => `--mirror=${prefix}=${other}`),
    ...allowExport.map((pattern) => `--allow-export=${pattern}`),
    ...(offline ? ["--offline"] : []),
    ...(legacyRefs ? [] : ["--no-legacy-refs"]),
  ];
}
