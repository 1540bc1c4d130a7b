import { MAX_TIMER_MS } from "@steps/model";
import type { JobResult, PipelineEvent } from "@steps/model/pipeline";
import { isPassed } from "./combine-results.ts";
import type { Instance, InstanceSet } from "./pipeline-job.ts";
import { Places } from "./places.ts";

/** Places whose holders are told when the one that they waited for is their own: `new Places(2)`. */
export type JobPlaces = Places<() => void>;

/** The id of a job, and the name of one of its instances. */
export interface InstanceName {
  readonly job: string;
  readonly instance: string;
}

/** Waits for the turn of a group among several pipelines, and gives the function that ends it. */
export type EnterGroup = (group: string, signal: AbortSignal) => Promise<() => Promise<void>>;

/** The scheduler, as one job sees it. */
export interface JobRunHost<Work> {
  readonly run: (work: Work, signal: AbortSignal, of: InstanceName) => Promise<JobResult>;
  readonly tell: (event: PipelineEvent) => void;
  readonly places: JobPlaces;
  readonly placesOf: (group: string) => JobPlaces;
  readonly enterGroup: EnterGroup | undefined;
}

/** The instances of a job that was decided, from their waiting to their end. */
export class JobRun<Work> {
  readonly #cancel = new AbortController();
  readonly #job: string;
  readonly #set: InstanceSet<Work>;
  readonly #host: JobRunHost<Work>;
  readonly #own: JobPlaces;

  constructor(job: string, set: InstanceSet<Work>, host: JobRunHost<Work>) {
    this.#job = job;
    this.#set = set;
    this.#host = host;
    this.#own = new Places(set.maxParallel ?? Number.POSITIVE_INFINITY);
  }

  /** Runs all instances; their results in their order. An error of one cancels the others, and is thrown when they have ended. */
  async finish(): Promise<JobResult[]> {
    const ended = await Promise.allSettled(this.#set.instances.map((instance) => this.#runInstance(instance)));
    return ended.map((end) => {
      if (end.status === "rejected") throw end.reason;
      return end.value;
    });
  }

  /** Cancels the instances that run and those that wait. @param reason a sentence for those that never started */
  cancel(reason: string): void {
    this.#cancel.abort(reason);
  }

  async #runInstance(instance: Instance<Work>): Promise<JobResult> {
    const { signal } = this.#cancel;
    const named = { job: this.#job, instance: instance.name } as const;
    try {
      const result = await this.#afterDelay(instance, () =>
        this.#inPlaces(instance, async () => {
          if (signal.aborted) return { status: "cancelled", reason: String(signal.reason) };
          this.#host.tell({ type: "instance-started", ...named });
          const result = await this.#host.run(instance.work, signal, named);
          // Before its place is given to the next one.
          if (this.#set.isFailFast === true && result.status === "failure" && !isPassed(result))
            this.cancel(`"${instance.name}" failed, and the job ends with its first failure`);
          return result;
        }),
      );
      this.#host.tell({ type: "instance-ended", ...named, result });
      return result;
    } catch (error) {
      this.cancel(`"${instance.name}" ended with an error`);
      throw error;
    }
  }

  async #afterDelay(instance: Instance<Work>, go: () => Promise<JobResult>): Promise<JobResult> {
    const { name, delayMs = 0 } = instance;
    if (delayMs > 0) {
      this.#host.tell({ type: "instance-delayed", job: this.#job, instance: name, delayMs });
      await wait(delayMs, this.#cancel.signal);
    }
    return go();
  }

  // Always in this order, the scarcest last: who holds a place of the pipeline runs, so nobody waits for ever.
  #inPlaces({ group, holdsNoPlace = false }: Instance<Work>, go: () => Promise<JobResult>): Promise<JobResult> {
    const { places } = this.#host;
    const run = holdsNoPlace ? go : () => holding(places, go);
    return holding(this.#own, group === undefined ? run : () => this.#inGroup(group, run));
  }

  #inGroup(group: string, go: () => Promise<JobResult>): Promise<JobResult> {
    const { enterGroup, placesOf } = this.#host;
    const { signal } = this.#cancel;
    return holding(placesOf(group), async () => {
      if (enterGroup === undefined || signal.aborted) return go();
      const leave = await enterGroup(group, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      try {
        return await go();
      } finally {
        await leave?.();
      }
    });
  }
}

async function holding(places: JobPlaces, go: () => Promise<JobResult>): Promise<JobResult> {
  const turn = Promise.withResolvers<void>();
  if (!places.take(turn.resolve)) await turn.promise;
  try {
    return await go();
  } finally {
    places.giveBack()?.();
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, MAX_TIMER_MS));
    signal.addEventListener("abort", end);
  });
}
