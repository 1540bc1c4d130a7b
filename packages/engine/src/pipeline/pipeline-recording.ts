import type { JobResult, PipelineEvent } from "@steps/model/pipeline";
import { sha256 } from "@steps/platform";
import type { PipelineTraceJson, RunStatusJson, TraceJson } from "@steps/proto";
import { createMasker } from "@steps/trace/mask";
import {
  createPipelineJournal,
  createPipelineRecorder,
  NameMasker,
  type PipelineJournalEvent,
  type PipelineLanguage,
  redactEnd,
} from "@steps/trace/pipeline";
import { JournalFile } from "../journal-file.ts";
import type { RunContext, RunHooks, RunResult } from "../run.ts";
import { closeRunDirectories, createRunDirectory, type RunDirectory } from "../run-directory.ts";

/** The pipeline that is recorded. */
export interface PipelineRecordingOptions {
  readonly language: PipelineLanguage;
  /** The file, as the user named it. */
  readonly source: string;
  /** The folder of the project: absolute. */
  readonly projectDir: string;
  /** The trace that is replayed. Default: none. */
  readonly parentTraceId?: string;
  /** The texts that are masked wherever they turn up. */
  readonly maskedValues: readonly string[];
  /** Whether the trace will be asked for; without it only the journal is written. */
  readonly wantsTrace: boolean;
}

/** The instance that a run belongs to. `path`: the names of the calling instances, each with ` / ` behind it. */
export interface AttemptOf {
  readonly path: string;
  readonly job: string;
  readonly instance: string;
}

/** A run of an instance, as the record of the pipeline needs it. */
export type AttemptResult = Pick<RunResult, "outcome" | "journalRoot" | "trace"> & {
  readonly directory: Pick<RunDirectory, "traceId">;
};

/** A job of a pipeline, as far as it is known before it is decided. */
export interface PlannedJob {
  readonly id: string;
  readonly needs: readonly string[];
}

/**
 * Records a pipeline: the events of its scheduler, the files that it was made of, and the runs of its jobs. All of it is in a
 * journal below the state directory at once, so that a kill loses nothing.
 */
export class PipelineRecording implements AsyncDisposable {
  readonly #context: Pick<RunContext, "stateDir" | "runner">;
  readonly #options: PipelineRecordingOptions;
  readonly #directory: RunDirectory;
  readonly #journal: JournalFile<PipelineJournalEvent>;
  readonly #masker = createMasker({ masksTokens: true });
  readonly #names = new NameMasker(this.#masker);
  readonly #recorder = createPipelineRecorder();
  readonly #traces = new Map<string, TraceJson>();
  #isFinished = false;

  constructor(context: Pick<RunContext, "stateDir" | "runner" | "traceSync">, options: PipelineRecordingOptions) {
    this.#context = context;
    this.#options = options;
    this.#directory = createRunDirectory(context.stateDir, "pipelines");
    this.#journal = new JournalFile(this.#directory.journal, context.traceSync, createPipelineJournal);
    for (const value of options.maskedValues) this.#masker.add(value);
    const { language, source, projectDir, parentTraceId } = options;
    const { traceId } = this.#directory;
    const { runner } = context;
    const event = { type: "pipeline-started", at: Date.now(), traceId, parentTraceId, runner, language } as const;
    this.#append({ ...event, source: this.#masker.text(source), projectDir: this.#masker.text(projectDir) });
  }

  /** The id of the trace: 32 hex digits. */
  get traceId(): string {
    return this.#directory.traceId;
  }

  /** Masks a text from now on in everything that is recorded of the pipeline itself. */
  mask(secret: string): void {
    this.#masker.add(secret);
  }

  /** A file was read that the pipeline is made of. @param path relative to the project, or a URL without credentials */
  fileRead(path: string, content: string | Uint8Array): void {
    this.#append({ type: "file-read", at: Date.now(), path: this.#masker.text(path), sha256: sha256(content) });
  }

  /** Jobs are part of the pipeline. @param path the names of the calling instances, each with ` / ` behind it */
  planned(jobs: readonly PlannedJob[], path: string): void {
    for (const { id, needs } of jobs) {
      const names = { job: this.#names.name(id), needs: needs.map(this.#names.name) };
      this.#append({ type: "job-planned", at: Date.now(), caller: this.#callerOf(path), ...names });
    }
  }

  /** An event of the scheduler. @param path the names of the calling instances, each with ` / ` behind it */
  readonly onEvent = (event: PipelineEvent, path: string): void => {
    const of = { at: Date.now(), caller: this.#callerOf(path), job: this.#names.name(event.job) };
    const { name } = this.#names;
    switch (event.type) {
      case "job-decided":
        return this.#append({ type: event.type, ...of, instances: event.instances.map(name) });
      case "instance-delayed":
        return this.#append({ type: event.type, ...of, instance: name(event.instance), delayMs: event.delayMs });
      case "instance-started":
        return this.#append({ type: event.type, ...of, instance: name(event.instance) });
      case "instance-retried":
        // The attempt itself has said how it ended.
        return;
      case "instance-ended":
        return this.#append({
          type: event.type,
          ...of,
          instance: name(event.instance),
          result: this.#end(event.result),
        });
      case "job-ended":
        return this.#append({ type: event.type, ...of, result: this.#end(event.result) });
    }
  };

  /**
   * One run of an instance: `run` is given the hooks to run it with. A retry is another attempt.
   *
   * @returns what `run` gave
   */
  async attempt<Result extends AttemptResult>(
    { path, job, instance }: AttemptOf,
    hooks: RunHooks,
    run: (hooks: RunHooks) => Promise<Result>,
  ): Promise<Result> {
    const { name } = this.#names;
    const of = { caller: this.#callerOf(path), job: name(job), instance: name(instance) };
    let isStarted = false;
    const start = (at: number, traceId: string): void => {
      isStarted = true;
      this.#append({ type: "attempt-started", at, ...of, traceId });
    };
    const onEvent: NonNullable<RunHooks["onEvent"]> = (event) => {
      if (event.type === "run-started") start(event.at, event.traceId);
      hooks.onEvent?.(event);
    };
    const begin = Date.now();
    const result = await run({ ...hooks, onEvent, wantsTrace: this.#options.wantsTrace });
    const { traceId } = result.directory;
    // A run elsewhere tells its trace's id at its end.
    if (!isStarted) start(begin, traceId);
    if (this.#options.wantsTrace) this.#traces.set(traceId, result.trace());
    const { journalRoot, outcome } = result;
    const ended = { type: "attempt-ended", at: Date.now(), ...of, traceId, journalRoot } as const;
    this.#append({ ...ended, status: outcome.status });
    return result;
  }

  /** The pipeline ended. Nothing is recorded afterwards. */
  finish(status: RunStatusJson): void {
    this.#append({ type: "pipeline-finished", at: Date.now(), status });
    this.#isFinished = true;
  }

  /** The trace of the pipeline with those of its runs. */
  trace(): PipelineTraceJson {
    const { root, count, failure } = this.#journal;
    const trace = this.#recorder.trace({ journalRoot: root, journalEvents: count }, (id) => this.#traces.get(id));
    if (failure === undefined) return trace;
    return { ...trace, notes: [...(trace.notes ?? []), `error: ${failure.message} [${failure.code}]`] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#journal[Symbol.asyncDispose]();
    if (this.#isFinished) closeRunDirectories([this.#directory], this.#context.stateDir, { kind: "pipelines" });
  }

  #append(event: PipelineJournalEvent): void {
    this.#journal.append([event]);
    this.#recorder.apply(event);
  }

  #callerOf(path: string): string {
    return this.#names.name(path.replace(/ \/ $/, ""));
  }

  #end(result: JobResult): ReturnType<typeof redactEnd> {
    return redactEnd(result, this.#masker);
  }
}
