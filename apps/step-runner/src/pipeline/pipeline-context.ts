import { availableParallelism } from "node:os";
import { relative, resolve } from "node:path";
import { assertWritable, progressMode } from "@steps/console/terminal";
import type { Engine } from "@steps/engine";
import { markVariables } from "@steps/engine/environment";
import type { PipelineRecording } from "@steps/engine/pipeline";
import { PipeReserve, privateDirectory, Reaper, reaperCommand, Spawner, userDirectories } from "@steps/engine/runs";
import type { Job } from "@steps/model";
import type { Source } from "@steps/model/diagnostic";
import { type JobPlaces, type PipelineEvent, Places } from "@steps/pipeline";
import { takeSnapshot, WorkspacePool, Workspaces } from "@steps/workspace";
import { PipelineView } from "@steps/pipeline-view";
import { absolute } from "../files/absolute.ts";
import { FailureShells } from "../failure-shell/failure-shells.ts";
import { baseEnvironment } from "../flags/job-flags.ts";
import { givenVariables } from "../input/given-variables.ts";
import { sweepLeft } from "../job-containers/sweep-once.ts";
import { openEngine, ownProgram } from "../open-engine.ts";
import { StopSignals } from "../signals.ts";
import type { LocalPipeline } from "./local-pipeline.ts";
import type { PipelineOptions } from "./pipeline-flags.ts";

/** Everything that the jobs of a pipeline share, in any language, also those of the pipelines that it starts. */
export interface PipelineContext {
  readonly options: PipelineOptions;
  readonly engine: Engine;
  readonly stop: StopSignals;
  readonly view: PipelineView;
  readonly recording: PipelineRecording;
  readonly places: JobPlaces;
  /** Opens shells where jobs have failed. Absent where the user wants none. */
  readonly shells: FailureShells | undefined;
  /** The folder of the project: absolute. */
  readonly project: string;
  /** The absolute path of the folder with the state of all projects. */
  readonly stateDir: string;
  /** The copy of the project that a folder stands for it in; `undefined` for the project itself. */
  readonly workspaceOf: (workDir: string) => Job["workspace"];
  /** Makes a folder of this run, which is removed when the pipeline has ended: absolute. */
  readonly makeFolder: () => string;
  /**
   * Runs a job in a folder of its own, a copy of the project, or in the project itself. `undefined` when it was cancelled before the
   * folder was there.
   */
  readonly inWorkspace: <Result>(
    work: (workDir: string) => Promise<Result>,
    signal: AbortSignal,
  ) => Promise<Result | undefined>;
  /** Begins to make the folder of the next job. To be called when there is time: while another job runs. */
  readonly prepareWorkspace: () => void;
  /** Records that jobs are part of the pipeline, before they are decided. `path`: as below. */
  readonly onPlanned: PipelineRecording["planned"];
  /** Shows and records an event. `path`: the names of the calling instances, each with ` / ` behind it. */
  readonly onEvent: (event: PipelineEvent, path: string) => void;
}

/** The pipeline that a context is opened for. */
export interface PipelineProject extends Pick<LocalPipeline, "language" | "maskedValues"> {
  /** The file, as the user named it. */
  readonly path: string;
  /** The folder of the project: absolute. */
  readonly project: string;
  /** How many jobs there are, at least. */
  readonly jobCount: number;
}

/** More copies ahead of their jobs take room and are hardly missed. */
const MAX_AHEAD = 4;
/** Fewer jobs would wait longer for a process that starts theirs than they gain by it. */
const MANY_JOBS = 16;

/** Opens what the jobs of a pipeline share. To be disposed when all have ended. */
export async function openPipelineContext(
  options: PipelineOptions,
  { path, project, language, jobCount, maskedValues: ofFiles = [] }: PipelineProject,
): Promise<PipelineContext & AsyncDisposable> {
  await using open = new AsyncDisposableStack();
  const stop = open.use(new StopSignals());
  const stateDir = absolute(options.stateDir ?? userDirectories(process.env).state);
  const { outputFile } = options;
  if (outputFile !== undefined) assertWritable(outputFile);
  const workspaces = open.use(new Workspaces(privateDirectory(stateDir)));
  // Their files may belong to another user until then.
  await sweepLeft(stateDir);
  await workspaces.sweep();
  // The jobs share what each run starts beside its steps otherwise.
  const reaper = open.use(new Reaper(reaperCommand(ownProgram(stateDir), stateDir)));
  const placeCount = options.jobs ?? availableParallelism();
  const pipeReserve = open.use(new PipeReserve(workspaces.next(), { maker: reaper, sharedBy: placeCount }));
  const spawner = open.use(new Spawner(jobCount < MANY_JOBS ? undefined : 0));
  const engine = open.use(openEngine(options, { excluded: [outputFile], reaper, pipeReserve, spawner }));
  const snapshot = options.inPlace
    ? undefined
    : await takeSnapshot({ project, target: workspaces.next(), env: process.env, signal: stop.hurry });
  const pool =
    snapshot &&
    open.use(new WorkspacePool(snapshot, workspaces, { helper: reaper, ahead: Math.min(placeCount, MAX_AHEAD) }));
  const masked = [...maskedValues(options), ...ofFiles];
  const recording = open.use(
    engine.recordPipeline({
      language,
      source: path,
      projectDir: project,
      maskedValues: masked,
      wantsTrace: outputFile !== undefined,
    }),
  );
  const view = new PipelineView({
    isQuiet: options.quiet,
    mode: progressMode(options),
    hasReport: options.report !== undefined,
    maskedValues: masked,
  });
  open.defer(() => void view.end());
  const opened = open.move();
  return {
    options,
    engine,
    recording,
    stop,
    view,
    places: new Places(placeCount),
    shells: options.shellOnFailure ? new FailureShells() : undefined,
    project,
    stateDir,
    ...foldersOf(project, { workspaces, pool }),
    ...listenersOf({ pool, recording, view }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Gives the folders that jobs run in. `pool`: the copies of the project; `undefined` where jobs run in the project itself. */
function foldersOf(
  project: string,
  { workspaces, pool }: { readonly workspaces: Workspaces; readonly pool: WorkspacePool | undefined },
): Pick<PipelineContext, "workspaceOf" | "makeFolder" | "inWorkspace" | "prepareWorkspace"> {
  return {
    workspaceOf: (workDir) => {
      const root = workspaces.rootOf(workDir);
      return root === undefined ? undefined : { root, projectDir: project };
    },
    makeFolder: () => workspaces.next(),
    inWorkspace: (work, signal) => (pool === undefined ? work(project) : pool.use(work, signal)),
    prepareWorkspace: () => pool?.prepare(),
  };
}

/** Tells the record, the terminal and the pool of copies what happens in the pipeline. */
function listenersOf({
  pool,
  recording,
  view,
}: Pick<PipelineContext, "recording" | "view"> & { readonly pool: WorkspacePool | undefined }): Pick<
  PipelineContext,
  "onPlanned" | "onEvent"
> {
  return {
    onPlanned: (jobs, path) => {
      pool?.expect({ undecided: jobs.length });
      recording.planned(jobs, path);
    },
    onEvent: (event, path) => {
      if (event.type === "job-decided") pool?.expect({ waiting: event.instances.length, undecided: -1 });
      if (event.type === "instance-started") pool?.expect({ waiting: -1 });
      view.onEvent(event, path);
      recording.onEvent(event, path);
    },
  };
}

// A secret that no job was told may still be in the record of the pipeline: in the name of a job, or the reason of its end.
export function maskedValues(options: PipelineOptions): readonly string[] {
  const env = baseEnvironment(options, {});
  const { maskedValues: marked } = markVariables(
    { vars: givenVariables(options), env, offeredEnv: {} },
    options.maskVariable,
  );
  return [...options.mask, ...Object.values(options.secret), ...marked];
}

/** Records that a pipeline is made of a file. */
export function recordSource(
  { project, recording }: Pick<PipelineContext, "project" | "recording">,
  source: Source,
): void {
  // A file that came from elsewhere is called by its URL or its commit.
  if (source.name.includes(":")) return recording.fileRead(source.name, source.text);
  const way = relative(project, resolve(source.name));
  recording.fileRead(way.startsWith("..") ? source.name : way, source.text);
}
