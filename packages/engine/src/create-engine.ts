import { checkOptionNames, type OptionNames } from "@steps/model";
import type { CacheOptions, ComponentCache } from "@steps/cache";
import type { TraceJson } from "@steps/proto";
import type { LoadedStep, PipeReserve, Reaper, Spawner } from "@steps/executor";
import type { StepReference } from "@steps/model/reference";
import type { CheckedTree, CheckReference, CheckRoot } from "./check/check-steps.ts";
import type { ComponentSource } from "./components/component-source.ts";
import type { Lock } from "./components/lock.ts";
import { lockedCache } from "./components/locked-cache.ts";
import { sourcedCache } from "./components/sourced-cache.ts";
import { userDirectories } from "./directories.ts";
import type { TraceSync } from "./journal-file.ts";
import { lazyCache } from "./lazy-cache.ts";
import type { LoadOptions } from "./load-options.ts";
import { StepLoader } from "./load-step.ts";
import { type RecoveredPipeline, recoverPipeline } from "./pipeline/recover-pipeline.ts";
import { PipelineRecording, type PipelineRecordingOptions } from "./pipeline/pipeline-recording.ts";
import { closeRunDirectories, type RunDirectory } from "./run-directory.ts";
import { type Recovered, recover } from "./recover.ts";
import { replay, type ReplayOptions, type ReplayReport } from "./replay.ts";
import { run, type RunContext, type RunHooks, type RunOptions, type RunResult } from "./run.ts";

/** The options of `createEngine()`. Only `runner` is required. */
export interface EngineOptions {
  /** Name and version of the program around the engine; both stand in each trace. */
  readonly runner: { readonly name: string; readonly version: string };
  /**
   * The path of a program called `step-runner` that does `builtin NAME` by `runBuiltin()`, to be made below the state
   * directory if there is none. Without it there are no built-in steps but `script`.
   */
  readonly program?: (stateDir: string) => string;
  /** Pipes that are there before a run begins; for a process that starts many. */
  readonly pipeReserve?: PipeReserve;
  /** Ends what runs if we are killed; for a process that starts many. Default: one for each run, if there is a `program`. */
  readonly reaper?: Reaper;
  /** Starts the processes of all runs; for a process that starts many. Default: each long run has one of its own. */
  readonly spawner?: Spawner;
  /** Default: the user's directory, see `userDirectories()`. */
  readonly cacheDir?: string;
  readonly stateDir?: string;
  /** Default: `background`. */
  readonly traceSync?: TraceSync;
  /** The environment that directories, git and proxies are looked up in. Default: the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cache?: Partial<Omit<CacheOptions, "root" | "env">> & {
    /** Whether a git reference without a path mark may mean a path in a repository, if it is none itself. Default: yes. */
    readonly hasLegacyRefs?: boolean;
  };
  /**
   * The variables, as names and patterns, that fetched steps may export even though they can make other programs run code.
   * Default: none.
   */
  readonly allowedExports?: readonly string[];
  /** Other sources for some components, which are then not looked up in the lock. */
  readonly sources?: readonly ComponentSource[];
  /** The lock that components have to match. When absent, a branch or tag means what it means at the time. */
  readonly lock?: Lock;
}

/** Runs, replays and recovers jobs of steps. */
export interface Engine extends AsyncDisposable {
  readonly cache: ComponentCache;
  readonly stateDir: string;
  run(options: RunOptions, hooks: RunHooks, signal: AbortSignal): Promise<RunResult>;
  replay(trace: TraceJson, options: ReplayOptions): Promise<ReplayReport>;
  recover(journal?: string): Promise<Recovered>;
  /** Does for a pipeline with its runs what `recover()` does for a run; `undefined` if what is meant is a run of its own. */
  recoverPipeline(journal?: string): Promise<RecoveredPipeline | undefined>;
  /** Begins the record of a pipeline whose jobs this engine runs. */
  recordPipeline(options: PipelineRecordingOptions): PipelineRecording;
  /** Fetches and compiles one step without running it; `baseDir` is where local references start. */
  load(reference: StepReference, baseDir: string, options: LoadOptions): Promise<LoadedStep>;
  /** Compiles everything that a compiled step names, as far as that can be known without running it, and checks the calls. */
  check(root: CheckRoot | CheckReference, options: LoadOptions): Promise<CheckedTree>;
}

const OPTION_NAMES: OptionNames<EngineOptions> = {
  runner: true,
  program: true,
  pipeReserve: true,
  reaper: true,
  spawner: true,
  cacheDir: true,
  stateDir: true,
  traceSync: true,
  env: true,
  cache: true,
  allowedExports: true,
  sources: true,
  lock: true,
};

/** Puts compiler, cache, executor and trace together. One engine serves one job: versions that may move are looked up once. */
export function createEngine(options: EngineOptions): Engine {
  checkOptionNames("createEngine()", options, OPTION_NAMES);
  const env = options.env ?? process.env;
  const directories = userDirectories(env);
  const stateDir = options.stateDir ?? directories.state;
  const { hasLegacyRefs = true, ...cacheOptions } = options.cache ?? {};
  const cacheDir = options.cacheDir ?? directories.cache;
  const stored = lazyCache({ root: cacheDir, env, ...cacheOptions });
  const locked = options.lock === undefined ? stored : lockedCache(stored, options.lock);
  const cache = sourcedCache(locked, stored, options.sources ?? []);
  const ended: RunDirectory[] = [];
  const { traceSync = "background", runner } = options;
  const { program: makeProgram } = options;
  const program = makeProgram === undefined ? undefined : () => makeProgram(stateDir);
  const { pipeReserve, reaper, spawner } = options;
  const context: RunContext = {
    cache,
    cacheDir,
    stateDir,
    traceSync,
    ended,
    runner,
    program,
    pipeReserve,
    reaper,
    spawner,
    hasLegacyRefs,
    allowedExports: options.allowedExports ?? [],
    sources: options.sources ?? [],
  };
  return {
    cache,
    stateDir,
    run: (request, hooks, signal) => run(context, request, hooks, signal),
    replay: (trace, replayOptions) => replay(context, trace, replayOptions),
    recover: (journal) => recover(stateDir, journal),
    recoverPipeline: (journal) => recoverPipeline(stateDir, journal),
    recordPipeline: (recorded) => new PipelineRecording(context, recorded),
    load: (reference, baseDir, loadOptions) => load(context, reference, { baseDir, ...loadOptions }),
    check: async (root, loadOptions) => (await import("./check/check.ts")).check(context, root, loadOptions),
    [Symbol.asyncDispose]: async () => {
      closeRunDirectories(ended.splice(0), stateDir, { reaper });
      await cache[Symbol.asyncDispose]();
    },
  };
}

async function load(
  context: RunContext,
  reference: StepReference,
  options: LoadOptions & { readonly baseDir: string },
): Promise<LoadedStep> {
  const { cache, program, hasLegacyRefs, stateDir } = context;
  const loader = new StepLoader({ ...options, cache, hasLegacyRefs, tmpDir: stateDir, isReadOnly: true, program });
  return await loader.load(
    reference,
    { dir: options.baseDir, root: undefined },
    { signal: options.signal, path: "", env: {}, inputNames: [] },
  );
}
