import type { PipelineEvent } from "@steps/model/pipeline";
import { type OrderedJob, RowOrder } from "./row-order.ts";

/** The separator between the name of a job and those of the pipeline that it starts. */
export const SEPARATOR = " / ";

/** The result of one instance of a job, or of a job that has none, as a table shows it. */
export interface PipelineRow {
  /** The name of the instance, behind those of the jobs that call its workflow: `release / build (linux)`. */
  readonly job: string;
  /** Absent in a language without stages. */
  readonly stage?: string | undefined;
  /** How it ended; `allowed-failure` for a failure that counts as a success. */
  readonly result: "success" | "failure" | "allowed-failure" | "cancelled" | "skipped";
  /** The time from its start to its end, in milliseconds. Absent for a job that never started. */
  readonly durationMs?: number;
  /** The number of times that it was tried. Absent for one that was tried once, or never. */
  readonly attempts?: number;
  /** The part of the code that its tests covered, in percent. Absent where none was found in its output. */
  readonly coverage?: number;
  /** The reason in one sentence. Absent for a success. */
  readonly reason?: string;
}

/** A fold over the events of a pipeline, and of those inside it: one row for each instance. */
export class PipelineRows {
  readonly #rows: PipelineRow[] = [];
  readonly #order = new RowOrder();
  readonly #started = new Map<string, number>();
  readonly #withInstances = new Set<string>();
  // The instances that started a pipeline, whose jobs have rows of their own.
  readonly #calls = new Set<string>();

  /** The rows in the order in which their jobs were planned; without a plan in that of their ends. */
  get rows(): readonly PipelineRow[] {
    return this.#order.sorted(this.#rows);
  }

  /** The jobs that a pipeline has. @param path as for `apply()` */
  planned(jobs: readonly OrderedJob[], path: string): void {
    this.#order.planned(jobs, path, SEPARATOR);
  }

  /**
   * Gives the row of an instance, or of a job without any, that has ended; also of one that started a pipeline, which is not among
   * `rows`.
   *
   * @param path the names of the calling jobs, each with ` / ` behind it; empty for the outermost pipeline
   */
  apply(event: PipelineEvent, path: string, now: number): PipelineRow | undefined {
    if (event.type === "job-decided" && path !== "") this.#calls.add(path.slice(0, -SEPARATOR.length));
    if (event.type === "job-decided")
      this.#order.decided(
        path + event.job,
        event.instances.map((instance) => path + instance),
      );
    if (event.type === "instance-started") this.#started.set(path + event.instance, now);
    if (event.type === "instance-ended") {
      this.#withInstances.add(path + event.job);
      const row = this.#rowOf(path + event.instance, event.result, now);
      if (!this.#calls.has(row.job)) this.#rows.push(row);
      return row;
    }
    if (event.type === "job-ended" && !this.#withInstances.has(path + event.job)) {
      const row = this.#rowOf(path + event.job, event.result, now);
      this.#rows.push(row);
      return row;
    }
  }

  #rowOf(job: string, { status, isAllowedToFail, reason, attempts, coverage }: Ended, now: number): PipelineRow {
    const start = this.#started.get(job);
    const result = status === "failure" && isAllowedToFail === true ? "allowed-failure" : status;
    return {
      job,
      stage: this.#order.stageOf(job),
      result,
      durationMs: start === undefined ? undefined : Math.round(now - start),
      attempts,
      coverage,
      reason,
    };
  }
}

type Ended = Extract<PipelineEvent, { readonly type: "instance-ended" }>["result"];
