import type { StepResultJson } from "@steps/proto";
import { createResultTree } from "@steps/trace";
import type { JournalEvent } from "@steps/trace/journal";
import type { JobInfo, ResultState } from "../job-submission.ts";
import { Wakeup } from "./wakeup.ts";

/** To make the tree of a large job takes long; this many times as long nothing is made then, so that the job goes on. */
const REST_FACTOR = 8;

const SILENT: ReadonlySet<JournalEvent["type"]> = new Set([
  "note",
  "variable-read",
  "component-resolved",
  "process-started",
  "secret-found",
]);

/** The access to its job that a feed needs. */
export interface FeedSource {
  info(): JobInfo;
  /** The result of a job that ended, from what is on disk. */
  readFinal(): StepResultJson;
}

/** The result tree of a job: a fold over its events while it runs, read from the disk afterwards. */
export class ResultFeed {
  readonly #source: FeedSource;
  readonly #news = new Wakeup();
  readonly #ending = new Wakeup();
  #tree: ReturnType<typeof createResultTree> | undefined;
  #version = 0;
  #encoded: { readonly version: number; readonly result: StepResultJson } | undefined;
  #restUntil = 0;
  #followers = 0;
  #final: StepResultJson | undefined;
  #isEnded: boolean;

  constructor(source: FeedSource, isEnded: boolean) {
    this.#source = source;
    this.#isEnded = isEnded;
    if (!isEnded) this.#tree = createResultTree();
  }

  apply(event: JournalEvent): void {
    this.#tree?.apply(event);
    // An event that changes nothing in the tree is not reported.
    if (SILENT.has(event.type)) return;
    this.#version += 1;
    this.#news.notify();
  }

  /** The job has ended, and its `info` says how. */
  end(): void {
    if (this.#followers > 0 && this.#tree !== undefined) {
      this.#final = closeOpenSteps(this.#tree.result(), this.#source.info().status);
    }
    this.#isEnded = true;
    this.#tree = undefined;
    this.#encoded = undefined;
    this.#news.notify();
    this.#ending.notify();
  }

  /** See `JobHandle.readResults()`. An abort ends it without an error. */
  async *read(signal: AbortSignal): AsyncGenerator<ResultState, void> {
    this.#followers += 1;
    let isIn = true;
    const leave = (): void => {
      if (isIn) this.#leave();
      isIn = false;
    };
    signal.addEventListener("abort", leave);
    try {
      for (let seen = -1; !signal.aborted && !this.#isEnded;) {
        if (seen === this.#version) await this.#news.wait(signal);
        else if (performance.now() < this.#restUntil) await this.#rest(signal);
        else {
          seen = this.#version;
          yield { result: this.#current(), info: this.#source.info() };
        }
      }
      if (!signal.aborted) yield { result: this.#readFinal(), info: this.#source.info() };
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
  }

  #current(): StepResultJson {
    if (this.#encoded?.version === this.#version) return this.#encoded.result;
    const start = performance.now();
    const result = this.#tree?.result() ?? {};
    const end = performance.now();
    this.#restUntil = end + (end - start) * REST_FACTOR;
    this.#encoded = { version: this.#version, result };
    return result;
  }

  async #rest(signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const end = (): void => stop.abort();
    signal.addEventListener("abort", end);
    const timer = setTimeout(end, this.#restUntil - performance.now());
    await this.#ending.wait(stop.signal);
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }

  #readFinal(): StepResultJson {
    this.#final ??= this.#source.readFinal();
    return this.#final;
  }

  #leave(): void {
    this.#followers -= 1;
    if (this.#followers === 0) this.#final = undefined;
  }
}

/** The result of a job that ended without having said so: what was open did not succeed. */
export function closeOpenSteps(result: StepResultJson, status: JobInfo["status"]): StepResultJson {
  if (result.status !== "running") return result;
  const { subStepResults } = result;
  return {
    ...result,
    status: status === "cancelled" ? "cancelled" : status === "success" ? "success" : "failure",
    ...(subStepResults === undefined
      ? {}
      : { subStepResults: subStepResults.map((step) => closeOpenSteps(step, status)) }),
  };
}
