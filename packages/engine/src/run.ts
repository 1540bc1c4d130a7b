import type { ComponentCache, ComponentRequest } from "@steps/cache";
import { execute, type PipeReserve } from "@steps/executor";
import {
  type Diagnostic,
  Environment,
  type EnvironmentRecord,
  exitCodeOf,
  formatDiagnostic,
  mapObject,
  type Outcome,
  type Position,
  type Resource,
  type RunMode,
  type RuntimeString,
  type RuntimeValue,
  sensitive,
  type SpecDefinition,
  type StepEvent,
} from "@steps/model";
import type { StepResultJson, TraceJson } from "@steps/proto";
import {
  createMasker,
  createRecorder,
  createRedactor,
  createResultTree,
  type JournalEvent,
  type Masker,
  type Recorder,
} from "@steps/trace";
import { foldJournal } from "./fold-journal.ts";
import type { ComponentSource } from "./components/component-source.ts";
import type { GithubOptions } from "./github/github-options.ts";
import { LazyActionHost } from "./github/lazy-action-host.ts";
import { JournalFile, type TraceSync } from "./journal-file.ts";
import { type FetchProgress, StepLoader } from "./load-step.ts";
import { createRunDirectory, removeTemporary, type RunDirectory } from "./run-directory.ts";
import { describeRuntime } from "./runtime.ts";
import { type OutputListener, StepLogFile } from "./step-log-file.ts";

/** A job to run: compiled, with everything that is known about it. */
export interface RunRequest {
  readonly entry: "ci" | "local" | "run" | "replay" | "service";
  /** As the user named the input: a file, `STEPS`, `-`. */
  readonly source: string;
  readonly specDefinition: SpecDefinition;
  readonly positionOf?: (pointer: string) => Position | undefined;
  readonly inputs?: Readonly<Record<string, RuntimeValue>>;
  /** Job variables, the context `vars`; not environment. */
  readonly vars?: Readonly<Record<string, RuntimeString>>;
  /** The environment below all that steps declare; nothing is added to it. */
  readonly env: Readonly<Record<string, RuntimeString>>;
  /** Variables that steps of the user's own may name in `inherit_env` though they are not in `env`. */
  readonly offeredEnv?: Readonly<Record<string, RuntimeString>>;
  /** What the job can grant its steps, by name; masked job variables can be granted too. */
  readonly grants?: Readonly<Record<string, RuntimeString>>;
  readonly mode?: RunMode;
  /** What GitHub actions are told. */
  readonly github?: GithubOptions;
  readonly jobName?: string;
  /** Absolute. */
  readonly workDir: string;
  /** Absolute; where the job's local references start. */
  readonly baseDir: string;
  /** Values to mask wherever they turn up. */
  readonly secrets?: readonly string[];
  /** Whether what has the shape of one of GitLab's tokens (`glpat-…`) is masked too, after its prefix. Default: yes. */
  readonly maskTokens?: boolean;
  readonly timeoutMs?: number;
  /** Ends the grace of a cancelled step at once. */
  readonly hurry?: AbortSignal;
  /** How long a cancelled step has between TERM and KILL; 10 seconds unless given. */
  readonly graceMs?: number;
  readonly isLenient?: boolean;
  /** How much output is stored of a step and of the whole job, in bytes; 64 MiB and 1 GiB unless given. */
  readonly logLimits?: { readonly stepBytes: number; readonly jobBytes: number };
  /** Replay: the trace that this run repeats, and what its components must be. */
  readonly parentTraceId?: string;
  readonly pin?: (request: ComponentRequest) => Resource;
}

/** Who watches a run. All of it is masked. */
export interface RunHooks {
  readonly onEvent?: (event: JournalEvent) => void;
  readonly onOutput?: OutputListener;
  readonly onProgress?: (stepPath: string, reference: string, progress: FetchProgress) => void;
  /** Whether the trace will be asked for; then it is folded as the events come, whatever happens to the journal. Default: yes. */
  readonly wantsTrace?: boolean;
  /** Whether the result tree is wanted. */
  readonly wantsResult?: boolean;
}

export interface RunResult {
  readonly outcome: Outcome;
  /** For the command line: see `exitCodeOf()`. */
  readonly exitCode: number;
  /** The fold over all events; from the journal if it was not said before that it is wanted. */
  readonly trace: () => TraceJson;
  /** Present if it was wanted. */
  readonly result: StepResultJson | undefined;
  /** Holds the journal and the logs. */
  readonly directory: RunDirectory;
  readonly unmaskable: number;
  /** SHA-256 of the journal's last line: what tells later whether something else wrote in it. */
  readonly journalRoot: string;
}

export interface RunContext {
  readonly cache: ComponentCache;
  readonly cacheDir: string;
  readonly stateDir: string;
  readonly traceSync: TraceSync;
  /** Runs that ended; they are closed when the engine is, so that a kill before their trace is written leaves them to recover. */
  readonly ended: RunDirectory[];
  readonly runner: { readonly name: string; readonly version: string };
  readonly program: (() => string) | undefined;
  readonly hasLegacyRefs: boolean;
  readonly sources: readonly ComponentSource[];
  readonly pipeReserve: PipeReserve | undefined;
}

const DEFAULT_GRACE_MS = 10_000;
const MAX_JOB_LOG_BYTES = 1024 * 1024 * 1024;

/** Runs a job to its end. It rejects only for faults of the runner's own, such as a full disk. */
export async function run(
  context: RunContext,
  request: RunRequest,
  hooks: RunHooks,
  signal: AbortSignal,
): Promise<RunResult> {
  const directory = createRunDirectory(context.stateDir);
  await using journal = new JournalFile(directory.journal, context.traceSync);
  const masker = createMasker({ masksTokens: request.maskTokens !== false });
  for (const secret of request.secrets ?? []) masker.add(secret);
  const recording = new Recording(journal, masker, hooks);
  recording.observe(started(context, request, directory.traceId));
  const { outcome, outputs } = await executeJob(context, request, { directory, masker, recording, hooks, signal });
  recording.observe({ type: "run-finished", at: Date.now(), outcome, outputs });
  removeTemporary(directory);
  context.ended.push(directory);
  const { error } = outcome;
  const { root, count } = journal;
  const { recorder } = recording;
  return {
    outcome: error === undefined ? outcome : { ...outcome, error: { ...error, message: masker.text(error.message) } },
    exitCode: exitCodeOf(outcome),
    trace: () =>
      recorder?.trace({ journalRoot: root, journalEvents: count }) ?? foldJournal(directory.journal, root).trace,
    result: recording.results?.result(),
    directory,
    unmaskable: masker.unmaskable,
    journalRoot: root,
  };
}

/** Redacts each event once, then hands it to everything that folds over the stream. */
class Recording {
  readonly results: ReturnType<typeof createResultTree> | undefined;
  readonly recorder: Recorder | undefined;
  readonly #journal: JournalFile;
  readonly #redactor: ReturnType<typeof createRedactor>;
  readonly #onEvent: RunHooks["onEvent"];

  constructor(journal: JournalFile, masker: Masker, hooks: RunHooks) {
    this.#journal = journal;
    this.#redactor = createRedactor(masker);
    this.#onEvent = hooks.onEvent;
    this.recorder = hooks.wantsTrace === false ? undefined : createRecorder();
    this.results = hooks.wantsResult === true ? createResultTree() : undefined;
  }

  /** Reads of variables wait for the next event: only then it is known whether the value went into something sensitive. */
  #reads: StepEvent[] = [];

  readonly observe = (event: StepEvent): void => {
    if (event.type === "variable-read") {
      this.#reads.push(event);
      return;
    }
    const redacted = this.#redactor.redact(event);
    for (const read of this.#reads.splice(0)) this.#record(this.#redactor.redact(read));
    this.#record(redacted);
  };

  #record(redacted: JournalEvent): void {
    this.#journal.append(redacted);
    this.recorder?.apply(redacted);
    this.results?.apply(redacted);
    this.#onEvent?.(redacted);
  }
}

interface Job {
  readonly directory: RunDirectory;
  readonly masker: Masker;
  readonly recording: Recording;
  readonly hooks: RunHooks;
  readonly signal: AbortSignal;
}

async function executeJob(context: RunContext, request: RunRequest, job: Job): ReturnType<typeof execute> {
  const { directory, masker, recording, hooks, signal } = job;
  const { onProgress } = hooks;
  const { logLimits } = request;
  const budget = { bytes: logLimits?.jobBytes ?? MAX_JOB_LOG_BYTES };
  const limits = { budget, ...(logLimits === undefined ? {} : { maxStoredBytes: logLimits.stepBytes }) };
  const note = (path: string, level: "info" | "warning" | "error", code: string, message: string) =>
    recording.observe({ type: "note", at: Date.now(), path, level, code, message });
  await using actions = new LazyActionHost({
    ...request.github,
    cacheDir: context.cacheDir,
    stateDir: context.stateDir,
    traceId: directory.traceId,
    mask: (text) => masker.text(text),
    onNote: (code, message) => note("", "info", code, message),
  });
  const isReplaced = context.sources.some(({ location }) => location === "github.com/actions/checkout");
  const hasNativeCheckout = !isReplaced && request.github?.hasNativeCheckout !== false;
  const loader = new StepLoader({
    cache: context.cache,
    workspace: request.workDir,
    hasNativeCheckout,
    tmpDir: directory.tmp,
    ...(context.program === undefined ? {} : { program: context.program }),
    ...(request.vars === undefined ? {} : { vars: request.vars }),
    isLenient: request.isLenient === true,
    isLax: request.mode?.compat === "2025",
    hasLegacyRefs: context.hasLegacyRefs,
    ...(request.pin === undefined ? {} : { pin: request.pin }),
    ...(onProgress === undefined
      ? {}
      : { onProgress: (path, name, progress) => onProgress(path, masker.text(name), progress) }),
    onNote: (path, code, message) => note(path, "warning", code, message),
    onDiagnostics: (path, diagnostics) =>
      noteDiagnostics(diagnostics, (level, text) => note(path, level, "diagnostic", text)),
  });
  return await execute(
    {
      specDefinition: request.specDefinition,
      inputs: request.inputs ?? {},
      vars: request.vars ?? {},
      environment: Environment.create(request.env),
      ...(request.offeredEnv === undefined ? {} : { offeredEnv: request.offeredEnv }),
      ...(request.grants === undefined ? {} : { secrets: request.grants }),
      ...(request.mode === undefined ? {} : { mode: request.mode }),
      workDir: request.workDir,
      baseDir: request.baseDir,
      jobTmp: directory.tmp,
      graceMs: request.graceMs ?? DEFAULT_GRACE_MS,
      // A run inside a step of another is part of that one too.
      cookie: directory.traceId,
      ...(context.pipeReserve === undefined ? {} : { pipeReserve: context.pipeReserve }),
      ...(process.env["STEP_RUNNER_COOKIE"] === undefined ? {} : { outerCookie: process.env["STEP_RUNNER_COOKIE"] }),
      ...(request.hurry === undefined ? {} : { hurry: request.hurry }),
      ...(request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }),
      ...(request.positionOf === undefined ? {} : { positionOf: request.positionOf }),
    },
    {
      loadStep: loader.load,
      observe: recording.observe,
      actions: actions.open,
      openLog: (path) => new StepLogFile(directory.logs, path, { masker, ...limits, onOutput: hooks.onOutput }),
    },
    signal,
  );
}

function noteDiagnostics(
  diagnostics: readonly Diagnostic[],
  note: (level: "warning" | "error", text: string) => void,
): void {
  for (const diagnostic of diagnostics) {
    if (diagnostic.severity !== "note") note(diagnostic.severity, formatDiagnostic(diagnostic));
  }
}

function started(context: RunContext, request: RunRequest, traceId: string): StepEvent {
  return {
    type: "run-started",
    at: Date.now(),
    traceId,
    ...(request.parentTraceId === undefined ? {} : { parentTraceId: request.parentTraceId }),
    request: {
      entry: request.entry,
      definition: request.specDefinition,
      inputs: request.inputs ?? {},
      env: request.env,
      ...(request.grants === undefined ? {} : { secrets: mapObject(request.grants, sensitive) as EnvironmentRecord }),
      ...(request.mode === undefined ? {} : { mode: request.mode }),
      ...(request.jobName === undefined ? {} : { jobName: request.jobName }),
      source: request.source,
      workDir: request.workDir,
      baseDir: request.baseDir,
    },
    runner: context.runner,
    runtime: describeRuntime(),
  };
}
