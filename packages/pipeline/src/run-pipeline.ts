import { checkOptionNames, type OptionNames, StepsError } from "@steps/model";
import { combineResults } from "./combine-results.ts";
import { type GraphProblem, graphProblems } from "./job-graph.ts";
import { type EnterGroup, type InstanceName, JobRun, type JobPlaces } from "./job-run.ts";
import type { JobResult, JobResults, PipelineEvent } from "@steps/model/pipeline";
import type { Decision, PipelineJob } from "./pipeline-job.ts";
import { Places } from "./places.ts";

/** How a pipeline is run. */
export interface PipelineOptions<Work> {
  /** The places for instances that run at once. A pipeline that is the work of an instance is given those of the outer one. */
  readonly places: JobPlaces;
  /**
   * Runs one instance to its end; `of` names it as the events do. The signal is aborted when the instance is cancelled; the result says then how it really
   * ended. An error that it throws is no failure of the job: it ends the pipeline.
   */
  readonly run: (work: Work, signal: AbortSignal, of: InstanceName) => Promise<JobResult>;
  /** Cancels the pipeline: instances that run are cancelled, and jobs that are decided from then on are told so. Default: never. */
  readonly signal?: AbortSignal;
  /**
   * Waits for the turn of a group among all pipelines that share it, and gives the function that ends the turn. It rejects when the
   * signal is aborted. Default: groups hold within this pipeline alone.
   */
  readonly enterGroup?: EnterGroup;
  /** Hears everything that happens, once and in order. Default: nobody. */
  readonly onEvent?: (event: PipelineEvent) => void;
}

/** The jobs cannot be run: `GRAPH_INVALID`, with every problem in the message. */
export class PipelineError extends StepsError<"GRAPH_INVALID"> {}

const OPTION_NAMES: OptionNames<PipelineOptions<unknown>> = {
  places: true,
  run: true,
  signal: true,
  enterGroup: true,
  onEvent: true,
};

/**
 * Runs the jobs of a pipeline, each after those that it needs, as many at once as there are places; places are given in the order of the
 * jobs. Gives the result of each job by its id, in the order in which they ended. The languages decide what a failed,
 * skipped or cancelled need means; the scheduler has no opinion.
 *
 * @throws {PipelineError} if a need is unknown, needs are circular or two jobs have one id
 * @throws what a decision or a run threw, after every instance has ended
 */
export async function runPipeline<Work>(
  jobs: readonly PipelineJob<Work>[],
  options: PipelineOptions<Work>,
): Promise<JobResults> {
  checkOptionNames("runPipeline()", options, OPTION_NAMES);
  const problems = graphProblems(jobs);
  if (problems.length > 0) throw new PipelineError("GRAPH_INVALID", problems.map(describe).join("; "));
  return new Scheduler(jobs, options).finish();
}

class Scheduler<Work> {
  readonly #options: PipelineOptions<Work>;
  readonly #results = new Map<string, JobResult>();
  readonly #missing = new Map<PipelineJob<Work>, number>();
  readonly #neededBy = new Map<string, PipelineJob<Work>[]>();
  readonly #running = new Set<JobRun<Work>>();
  readonly #groups = new Map<string, JobPlaces>();
  readonly #done = Promise.withResolvers<void>();
  #open: number;
  #active = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(jobs: readonly PipelineJob<Work>[], options: PipelineOptions<Work>) {
    this.#options = options;
    this.#open = jobs.length;
    for (const job of jobs) {
      const needs = new Set(job.needs);
      this.#missing.set(job, needs.size);
      for (const need of needs) addTo(this.#neededBy, need, job);
    }
  }

  async finish(): Promise<JobResults> {
    const { signal } = this.#options;
    const cancel = (): void => this.#cancel("The pipeline was cancelled");
    signal?.addEventListener("abort", cancel);
    try {
      for (const [job, missing] of this.#missing) if (missing === 0) this.#decide(job);
      if (this.#open > 0) await this.#done.promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#results;
  }

  #decide(job: PipelineJob<Work>): void {
    this.#track(async () => {
      const decision = await job.decide(this.#results, { isCancelled: this.#options.signal?.aborted === true });
      if (this.#failure !== undefined) return;
      const instances = "run" in decision ? decision.run.instances : [];
      this.#tell({ type: "job-decided", job: job.id, instances: instances.map(({ name }) => name) });
      const result = "result" in decision ? decision.result : await this.#runInstances(job.id, decision);
      this.#end(job.id, result);
    });
  }

  async #runInstances(job: string, { run }: Extract<Decision<Work>, { run: unknown }>): Promise<JobResult> {
    const jobRun = new JobRun(job, run, {
      run: this.#options.run,
      tell: (event) => this.#tell(event),
      places: this.#options.places,
      placesOf: (group) => this.#placesOf(group),
      enterGroup: this.#options.enterGroup,
    });
    this.#running.add(jobRun);
    try {
      return combineResults(await jobRun.finish());
    } finally {
      this.#running.delete(jobRun);
    }
  }

  #placesOf(group: string): JobPlaces {
    const known = this.#groups.get(group) ?? new Places(1);
    this.#groups.set(group, known);
    return known;
  }

  #end(id: string, result: JobResult): void {
    this.#results.set(id, result);
    this.#open--;
    this.#tell({ type: "job-ended", job: id, result });
    for (const job of this.#neededBy.get(id) ?? []) {
      const missing = (this.#missing.get(job) ?? 0) - 1;
      this.#missing.set(job, missing);
      if (missing === 0) this.#decide(job);
    }
  }

  #cancel(reason: string): void {
    for (const job of this.#running) job.cancel(reason);
  }

  #tell(event: PipelineEvent): void {
    this.#options.onEvent?.(event);
  }

  // The pipeline is over when all jobs ended, or when nothing is active any more after an error.
  #track(work: () => Promise<void>): void {
    this.#active++;
    void work()
      .catch((error: unknown) => {
        this.#failure ??= { error };
        this.#cancel("The pipeline ended with an error");
      })
      .finally(() => {
        this.#active--;
        if (this.#open === 0 || this.#active === 0) this.#done.resolve();
      });
  }
}

function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function describe(problem: GraphProblem): string {
  if (problem.kind === "duplicate") return `two jobs are called "${problem.job}"`;
  if (problem.kind === "unknown-need") return `the job "${problem.job}" needs "${problem.need}", which is not there`;
  return `these jobs need each other: ${[...problem.jobs, problem.jobs[0]].join(" → ")}`;
}
