import type { ComponentCache, ComponentRequest } from "@steps/cache";
import { execute, type PipeReserve, Reaper, type Spawner } from "@steps/executor";
import {
  checkOptionNames,
  exitCodeOf,
  type Job,
  mapObject,
  type OptionNames,
  type Outcome,
  type RuntimeString,
  sensitive,
} from "@steps/model";
import { formatDiagnostic } from "@steps/model/diagnostic";
import type { Resource, RunNote, StepEvent } from "@steps/model/event";
import type { StepResultJson, TraceJson } from "@steps/proto";
import { createRecorder, createResultTree, type Recorder } from "@steps/trace";
import { createJournal, type JournalEvent } from "@steps/trace/journal";
import { createMasker, createRedactor, type Masker } from "@steps/trace/mask";
import type { EngineError, LoadDiagnostic } from "./engine-error.ts";
import { foldJournal } from "./fold-journal.ts";
import type { ComponentSource } from "./components/component-source.ts";
import type { GithubOptions } from "./github/github-options.ts";
import { LazyActionHost } from "./github/lazy-action-host.ts";
import { JournalFile, type TraceSync } from "./journal-file.ts";
import { type FetchProgress, StepLoader } from "./load-step.ts";
import { reaperCommand } from "./reap-runs.ts";
import { createRunDirectory, removeTemporary, type RunDirectory } from "./run-directory.ts";
import { maskedJournal } from "./mask-journal.ts";
import { describeRuntime } from "./runtime.ts";
import { type OutputListener, StepLogFile } from "./step-log-file.ts";

/** A run of a job: the job, and what is true of this run alone. */
export interface RunOptions {
  readonly job: Job;
  /** The facts that GitHub actions are told. Default: those that the job variables tell. */
  readonly github?: GithubOptions;
  /** Whether what has the shape of one of GitLab's tokens (`glpat-…`) is masked too, after its prefix. Default: yes. */
  readonly maskTokens?: boolean;
  /** Further prefixes of tokens, masked in the same way; few and short ones. Default: none. */
  readonly tokenPrefixes?: readonly string[];
  /** How long the whole job may take, in milliseconds. Default: as long as it needs. */
  readonly timeoutMs?: number;
  /** How long a cancelled step has between TERM and KILL, in milliseconds. Default: 10 seconds. */
  readonly graceMs?: number;
  /** Ends the grace of a cancelled step as soon as it is aborted. Absent: the grace is never cut short. */
  readonly hurry?: AbortSignal;
  /** Whether unknown keys in the step files that are loaded are warnings. Default: no, they are errors. */
  readonly isLenient?: boolean;
  /** How much output is stored of a step and of the whole job, in bytes. Default: 64 MiB and 1 GiB. */
  readonly logLimits?: { readonly stepBytes: number; readonly jobBytes: number };
  /** Facts that are known before the run begins, such as its container; they are the first notes of its trace. Default: none. */
  readonly notes?: readonly Pick<RunNote, "level" | "code" | "message">[];
  /** The outcome of a job that could not begin, as one whose container cannot be had: no step of it runs. Default: the steps run. */
  readonly unbegun?: Outcome;
  /** The trace that this run repeats. Absent for a run that is no replay. */
  readonly parentTraceId?: string;
  /** The component that a request has to resolve to, as the replayed trace names it. Absent for a run that is no replay. */
  readonly pin?: (request: ComponentRequest) => Resource;
}

/** Who watches a run. All of it is masked. */
export interface RunHooks {
  readonly onEvent?: (event: JournalEvent) => void;
  readonly onOutput?: OutputListener;
  readonly onProgress?: (stepPath: string, reference: string, progress: FetchProgress) => void;
  /**
   * Whether the trace will be asked for; then it is folded as the events come, whatever happens to the journal. Default:
   * yes.
   */
  readonly wantsTrace?: boolean;
  /** Whether the result tree is wanted. */
  readonly wantsResult?: boolean;
}

/** The result of a run: its outcome, its trace, and the directory with its journal and logs. */
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
  /** How many secrets were masked as they are, while not all of their encodings were. */
  readonly partlyEncoded: number;
  /** SHA-256 of the journal's last line: what tells later whether something else wrote in it. */
  readonly journalRoot: string;
}

export interface RunContext {
  readonly cache: ComponentCache;
  readonly cacheDir: string;
  readonly stateDir: string;
  readonly traceSync: TraceSync;
  /**
   * Runs that ended; they are closed when the engine is, so that a kill before their trace is written leaves them to
   * recover.
   */
  readonly ended: RunDirectory[];
  readonly runner: { readonly name: string; readonly version: string };
  readonly program: (() => string) | undefined;
  readonly hasLegacyRefs: boolean;
  readonly allowedExports: readonly string[];
  readonly sources: readonly ComponentSource[];
  readonly pipeReserve: PipeReserve | undefined;
  readonly reaper: Reaper | undefined;
  readonly spawner: Spawner | undefined;
}

const OPTION_NAMES: OptionNames<RunOptions> = {
  job: true,
  github: true,
  maskTokens: true,
  tokenPrefixes: true,
  timeoutMs: true,
  graceMs: true,
  hurry: true,
  isLenient: true,
  logLimits: true,
  notes: true,
  unbegun: true,
  parentTraceId: true,
  pin: true,
};
const DEFAULT_GRACE_MS = 10_000;
const MAX_JOB_LOG_BYTES = 1024 * 1024 * 1024;

/** Runs a job to its end. It rejects only for faults of the runner's own, such as a full disk. */
export async function run(
  context: RunContext,
  options: RunOptions,
  hooks: RunHooks,
  signal: AbortSignal,
): Promise<RunResult> {
  checkOptionNames("run()", options, OPTION_NAMES);
  const job = withMarkedGrants(options.job);
  const directory = createRunDirectory(context.stateDir);
  await using journal = new JournalFile(directory.journal, context.traceSync, createJournal);
  const masker = createMasker({
    masksTokens: options.maskTokens !== false,
    tokenPrefixes: options.tokenPrefixes ?? [],
  });
  for (const secret of job.maskedValues ?? []) masker.add(secret);
  const failed = new AbortController();
  const recording = new Recording(journal, masker, hooks, () => failed.abort());
  recording.observe(started(context, { ...options, job }, directory.traceId));
  for (const note of options.notes ?? []) recording.observe({ type: "note", at: Date.now(), path: "", ...note });
  using own = context.reaper === undefined ? createReaper(context) : undefined;
  const reaper = context.reaper ?? own;
  const parts = { directory, masker, recording, hooks, signal: AbortSignal.any([signal, failed.signal]), reaper };
  const { unbegun } = options;
  const executed =
    unbegun === undefined ? await executeJob(context, { ...options, job }, parts) : { outcome: unbegun, outputs: {} };
  removeTemporary(directory);
  const { outputs } = executed;
  const outcome = journal.failure === undefined ? executed.outcome : failedOutcome(journal.failure, hooks);
  recording.observe({ type: "run-finished", at: Date.now(), outcome, outputs });
  await recording.maskLate(directory.journal);
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
    partlyEncoded: masker.partlyEncoded,
    journalRoot: root,
  };
}

/**
 * The outcome when the journal could not be written. The trace tells it all the same, because its disk may have room.
 */
function failedOutcome(failure: EngineError, { wantsTrace }: RunHooks): Outcome {
  if (wantsTrace === false) throw failure;
  const { code, message } = failure;
  return { status: "error", error: { code, message } };
}

/** Redacts each event once, then hands it to everything that folds over the stream. */
class Recording {
  results: ReturnType<typeof createResultTree> | undefined;
  recorder: Recorder | undefined;
  readonly #journal: JournalFile<JournalEvent>;
  readonly #redactor: ReturnType<typeof createRedactor>;
  readonly #onEvent: RunHooks["onEvent"];
  readonly #onFailure: () => void;

  constructor(journal: JournalFile<JournalEvent>, masker: Masker, hooks: RunHooks, onFailure: () => void) {
    this.#journal = journal;
    this.#onFailure = onFailure;
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
    const reads = this.#reads.splice(0).map((read) => this.#redactor.redact(read));
    this.#record([...reads, redacted]);
  };

  /** Takes out what became known as a secret after it was recorded: of the journal, and of what was folded of it. */
  async maskLate(path: string): Promise<void> {
    if (!this.#isLate) return;
    const known = { masker: this.#redactor.masker, unwritten: this.#unwritten };
    const events = maskedJournal(path, this.#journal.writtenRoot, known);
    if (events === undefined) return;
    await this.#journal.replace(events);
    this.recorder &&= createRecorder();
    this.results &&= createResultTree();
    for (const event of events) {
      this.recorder?.apply(event);
      this.results?.apply(event);
    }
  }

  /** The events that a full disk kept out of the journal. */
  readonly #unwritten: JournalEvent[] = [];
  /** Whether a secret became known when something had been recorded already. */
  #isLate = false;
  #version: number | undefined;

  #record(events: readonly JournalEvent[]): void {
    const { version } = this.#redactor.masker;
    this.#isLate ||= this.#version !== undefined && this.#version !== version;
    this.#version = version;
    const written = this.#journal.append(events);
    for (const event of events.slice(written)) this.#unwritten.push(event);
    if (this.#journal.failure !== undefined) this.#onFailure();
    for (const event of events) {
      this.recorder?.apply(event);
      this.results?.apply(event);
      this.#onEvent?.(event);
    }
  }
}

/** The things that a run writes to and is ended by. */
interface RunParts {
  readonly directory: RunDirectory;
  readonly masker: Masker;
  readonly recording: Recording;
  readonly hooks: RunHooks;
  readonly signal: AbortSignal;
  readonly reaper: Reaper | undefined;
}

/** The program that `reapRuns()` is the work of; `undefined` where there is none. */
function createReaper({ program, stateDir }: RunContext): Reaper | undefined {
  return program === undefined ? undefined : new Reaper(reaperCommand(program(), stateDir));
}

async function executeJob(context: RunContext, options: RunOptions, parts: RunParts): ReturnType<typeof execute> {
  const { directory, masker, recording, hooks, signal, reaper } = parts;
  const { onProgress } = hooks;
  const { job, logLimits } = options;
  const budget = { bytes: logLimits?.jobBytes ?? MAX_JOB_LOG_BYTES };
  const limits = { budget, maxStoredBytes: logLimits === undefined ? undefined : logLimits.stepBytes };
  const note = (path: string, level: "info" | "warning" | "error", code: string, message: string) =>
    recording.observe({ type: "note", at: Date.now(), path, level, code, message });
  await using actions = new LazyActionHost({
    ...options.github,
    cacheDir: context.cacheDir,
    stateDir: context.stateDir,
    traceId: directory.traceId,
    mask: (text) => masker.text(text),
    onNote: (code, message) => note("", "info", code, message),
  });
  const isReplaced = context.sources.some(({ location }) => location === "github.com/actions/checkout");
  const hasNativeCheckout = !isReplaced && options.github?.hasNativeCheckout !== false;
  const loader = new StepLoader({
    cache: context.cache,
    workspace: job.workDir,
    hasNativeCheckout,
    tmpDir: directory.tmp,
    program: context.program,
    vars: job.vars,
    isLenient: options.isLenient === true,
    stopsAtFailure: job.mode?.compat !== "2025",
    hasLegacyRefs: context.hasLegacyRefs,
    pin: options.pin,
    onProgress:
      onProgress === undefined ? undefined : (path, name, progress) => onProgress(path, masker.text(name), progress),
    onNote: (path, code, message) => note(path, "warning", code, message),
    onDiagnostics: (path, diagnostics) =>
      noteDiagnostics(diagnostics, (level, text) => note(path, level, "diagnostic", text)),
  });
  return await execute(
    {
      job,
      allowedExports: context.allowedExports,
      jobTmp: directory.tmp,
      graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
      // A run inside a step of another is part of that one too.
      cookie: directory.traceId,
      reaper,
      pipeReserve: context.pipeReserve,
      spawner: context.spawner,
      outerCookie: process.env["STEP_RUNNER_COOKIE"],
      hurry: options.hurry,
      timeoutMs: options.timeoutMs,
    },
    {
      loadStep: loader.load,
      observe: recording.observe,
      actions: actions.openRunner,
      openLog: (path) => new StepLogFile(directory.logs, path, { masker, ...limits, onOutput: hooks.onOutput }),
    },
    signal,
  );
}

function noteDiagnostics(
  diagnostics: readonly LoadDiagnostic[],
  note: (level: "warning" | "error", text: string) => void,
): void {
  for (const diagnostic of diagnostics) {
    if (diagnostic.severity !== "note") note(diagnostic.severity, formatDiagnostic(diagnostic));
  }
}

function started(context: RunContext, { job, parentTraceId }: RunOptions, traceId: string): StepEvent {
  return {
    type: "run-started",
    at: Date.now(),
    traceId,
    parentTraceId,
    job,
    runner: context.runner,
    runtime: describeRuntime(),
  };
}

/** Every value that a job can grant is a secret, also one that its maker did not mark. */
function withMarkedGrants(job: Job): Job {
  const { grants } = job;
  return grants === undefined
    ? job
    : { ...job, grants: mapObject(grants, (value) => sensitive(value) as RuntimeString) };
}
