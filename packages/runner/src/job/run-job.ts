import { ClientError, closeJob, followJob, type JobOutcome, type JobRequest, runAndFollow } from "@steps/client";
import { isStepsError, messageOf } from "@steps/model";
import type { Log, LogLevel } from "@steps/model/operation";
import type { RunnerApi } from "@steps/runner-api/client";
import type { RunnerConfig } from "../config/runner-config.ts";
import type { Executor, JobPlace, PlacedJob, RunnerPlace } from "../executors/executor.ts";
import { runnerInfo } from "../runner-info.ts";
import { TraceFile } from "../trace/trace-file.ts";
import { TraceUpload, type UploadPace } from "../trace/upload-trace.ts";
import { acknowledge } from "./acknowledge.ts";
import { cancelledBy, type Canceller, endOf, failed, type JobEnd } from "../job-end.ts";
import { createLineMask } from "./mask-lines.ts";
import { makeRequest, type MadeRequest } from "./job-request.ts";
import type { StoredJob } from "./job-store.ts";
import { RunnerLines } from "./runner-lines.ts";

/** A process that takes jobs, as a job of it needs it. */
export interface JobContext {
  readonly config: RunnerConfig;
  readonly executor: Executor;
  readonly place: RunnerPlace;
  readonly api: RunnerApi;
  readonly systemId: string;
  readonly pace?: UploadPace | undefined;
  readonly log: Log;
  /** Jobs that run are cancelled, and their servers are told. */
  readonly cancel: AbortSignal;
  /** Nothing more is waited for: what is on the disk is taken up by the next process. */
  readonly leave: AbortSignal;
}

/** How the work on a job ended here. */
export type JobWork = "success" | "failed" | "not-ours" | "left";

/** Does a job from where it stands on the disk to its end, which the server has heard of. @throws the error of the system for the disk */
export async function runJob(context: JobContext, job: StoredJob): Promise<JobWork> {
  const { api, config, leave, log } = context;
  const { payload } = job.record;
  const info = runnerInfo(config);
  if (job.record.phase === "received") {
    const signal = AbortSignal.any([context.cancel, leave]);
    const acknowledged = await acknowledge({ api, payload, info, log, signal });
    if (acknowledged === "not-ours") {
      job.remove();
      return "not-ours";
    }
    if (acknowledged === "ours") job.update({ phase: "accepted" });
    else job.update({ phase: "ended", end: cancelledBy("server") });
  }
  using trace = new TraceFile(job.folder, config.output_limit * 1024);
  const running = new RunningJob(context, job, trace);
  const upload = new TraceUpload({ api, payload, info, trace, log, onStop: (how) => running.stop(how) }, context.pace);
  const uploading = upload.run();
  // A disk that fails is told at the end of the job, and must not end the jobs of others before.
  uploading.catch(() => undefined);
  const end = await running.run();
  if (end === undefined) return "left";
  const told = await upload.finish(end, leave);
  await uploading;
  if (told === "given-up" && leave.aborted) return "left";
  if (told === "given-up")
    log("warning", "The server was not told how a job ended", { job: payload.id, state: end.state });
  job.remove();
  return end.state;
}

/** How long the first connection is tried: a machine may be busy, or just being started. */
const CONNECT_MS = 60_000;
/** How long a service that others use is asked to forget a job. */
const CLOSE_MS = 5_000;

/** A job between its acknowledgement and its end. */
class RunningJob {
  readonly #context: JobContext;
  readonly #job: StoredJob;
  readonly #trace: TraceFile;
  readonly #lines: RunnerLines;
  readonly #cancel = new AbortController();
  readonly #hurry = new AbortController();
  #canceller: Canceller;
  #close: (() => Promise<void>) | undefined;

  constructor(context: JobContext, job: StoredJob, trace: TraceFile) {
    this.#context = context;
    this.#job = job;
    this.#trace = trace;
    const { payload } = job.record;
    this.#lines = new RunnerLines(trace, payload.features.trace_sections, createLineMask(payload));
  }

  /** The server wants the job to end. */
  stop(how: "gracefully" | "now"): void {
    this.#canceller ??= "server";
    this.#cancel.abort();
    if (how === "now") this.#hurry.abort();
  }

  /** Runs the job, or takes it up. `undefined` when the runner leaves before its end. */
  async run(): Promise<JobEnd | undefined> {
    const { cancel, executor } = this.#context;
    const onCancel = (): void => {
      this.#canceller ??= "runner";
      this.#cancel.abort();
    };
    cancel.addEventListener("abort", onCancel);
    if (cancel.aborted) onCancel();
    try {
      const end = this.#job.record.end ?? (await this.#toEnd());
      if (end === undefined) return undefined;
      // The service of others would keep it for a while; that of the job alone goes with it.
      if (executor.sharesService) await this.#close?.().catch(() => undefined);
      await executor.remove(this.#placed({})).catch((error: unknown) => {
        this.#tell("warning", "Something of a job may be left", messageOf(error));
      });
      return end;
    } finally {
      cancel.removeEventListener("abort", onCancel);
    }
  }

  async #toEnd(): Promise<JobEnd | undefined> {
    const { config, systemId, leave } = this.#context;
    let end: JobEnd;
    try {
      this.#lines.begin(config, systemId);
      end = await this.#work();
    } catch (error) {
      if (leave.aborted) return undefined;
      if (!isStepsError(error) && !this.#cancel.signal.aborted)
        this.#tell("error", "A job met a mistake of the runner", (error as Error).stack ?? messageOf(error));
      end = this.#cancel.signal.aborted ? cancelledBy(this.#canceller) : endOfError(error);
    }
    try {
      this.#lines.end(end);
      this.#job.update({ phase: "ended", end });
    } catch (error) {
      // A process that is started again would find the job running. The server is told its end all the same.
      this.#tell("error", "The end of a job cannot be kept on the disk", messageOf(error));
    }
    return end;
  }

  #tell(level: LogLevel, message: string, reason: string): void {
    this.#context.log(level, message, { job: this.#job.record.payload.id, reason });
  }

  async #work(): Promise<JobEnd> {
    const { record } = this.#job;
    const folders = this.#context.executor.folders(this.#placed({}));
    const made = makeRequest({ config: this.#context.config, payload: record.payload, folders, slot: record.slot });
    if ("problem" in made) return failed("runner_configuration_error", { message: made.problem });
    const place = await this.#context.executor.open(this.#placed(made.variables));
    this.#lines.prepared();
    const request = this.#requestFor(made, place);
    this.#close = () =>
      closeJob(place.dial, request.id ?? "", { token: record.serviceToken, reconnectWindowMs: CLOSE_MS });
    const outcome = await this.#follow(place, request);
    return endOf(outcome, this.#canceller);
  }

  // The same request after a kill, whatever the program that is started then would make of the payload.
  #requestFor(made: Extract<MadeRequest, { request: JobRequest }>, place: JobPlace): JobRequest {
    const { record } = this.#job;
    if (record.request !== undefined) return record.request;
    const id = `${record.payload.id}-${record.nonce.slice(0, 8)}`;
    const request = { ...made.request, id, nonce: record.nonce, env: { ...place.env } };
    this.#job.update({ request });
    return request;
  }

  async #follow(place: JobPlace, request: JobRequest): Promise<JobOutcome> {
    const { record } = this.#job;
    const options = {
      token: record.serviceToken,
      signal: this.#cancel.signal,
      hurry: this.#hurry.signal,
      detach: this.#context.leave,
      resume: this.#trace.offsets,
      connectWindowMs: CONNECT_MS,
      // Its end has to be on the disk before the service forgets it.
      keep: true,
      onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => {
        this.#trace.append(stream, bytes);
        this.#lines.note(bytes);
      },
      onState: (state: { readonly type: string }) => {
        if (state.type === "started" && this.#job.record.isStarted !== true) this.#job.update({ isStarted: true });
      },
    };
    const { id = "" } = request;
    try {
      return await (record.isStarted === true
        ? followJob(place.dial, id, options)
        : runAndFollow(place.dial, request, options));
    } catch (error) {
      const problem = this.#context.leave.aborted ? undefined : await place.problem().catch(() => undefined);
      if (problem === undefined) throw error;
      throw new ClientError("CONNECTION_LOST", problem, { cause: error });
    }
  }

  #placed(variables: Readonly<Record<string, string>>): PlacedJob {
    const { config, place, systemId } = this.#context;
    const { folder, record } = this.#job;
    return {
      config,
      place,
      systemId,
      payload: record.payload,
      variables,
      folder,
      slot: record.slot,
      remembered: record.place ?? {},
      remember: (facts) => this.#job.update({ place: facts }),
      isStarted: record.request !== undefined,
      say: (line) => this.#lines.say(line),
      signal: AbortSignal.any([this.#cancel.signal, this.#context.leave]),
    };
  }
}

function endOfError(error: unknown): JobEnd {
  const hint = isStepsError(error) && error.hint !== undefined ? ` (${error.hint})` : "";
  const message = `${messageOf(error)}${hint}`;
  if (isStepsError(error, "IMAGE_FAILED")) return failed("image_pull_failure", { message });
  if (isStepsError(error, "CONTAINER_FAILED") && /^the (?:image|service) .* cannot be had/u.test(error.message)) {
    return failed("image_pull_failure", { message });
  }
  return failed("runner_system_failure", { message });
}
