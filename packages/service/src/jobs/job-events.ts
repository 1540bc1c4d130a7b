import { Counters, formatGauge, type Log } from "@steps/model/operation";
import { ServiceError } from "../service-error.ts";
import type { TableJob } from "./table-job.ts";

const COUNTERS = {
  jobs_started_total: "Jobs that were started.",
  jobs_ended_total: "Jobs that ended, by status.",
  jobs_refused_total: "Jobs that were refused, by the code of the error.",
  job_seconds_total: "The time that the jobs took that ended.",
  job_output_bytes_total: "Bytes of output that were stored of the jobs that ended.",
} as const;

/** The figures of the table at one moment. */
interface TableFigures {
  readonly running: number;
  /** The jobs that ended and are kept. */
  readonly ended: number;
  readonly maxJobs: number;
  readonly isDraining: boolean;
}

/** The codes of refusals that are repeated until they pass. */
const PASSING: ReadonlySet<string> = new Set(["TOO_MANY_JOBS", "SERVICE_DRAINING"]);

/**
 * Tells the operator what happens to jobs, in lines and in figures. A line has the id of a job, which its caller chose for everybody to
 * see, and words of our own: never its name, its output or the text of an error, which may hold a secret.
 */
export class JobEvents {
  readonly #log: Log;
  readonly #counters = new Counters("step_runner", COUNTERS);
  /** The code of the last refusal, if it was one that passes and nothing was started since. */
  #refusing: string | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  started({ id }: TableJob): void {
    this.#refusing = undefined;
    this.#counters.add("jobs_started_total");
    this.#log("info", "Job started", { job: id });
  }

  refused(id: string, error: unknown): void {
    const code = error instanceof ServiceError ? error.code : "INTERNAL";
    this.#counters.add("jobs_refused_total", { code });
    // Clients that find no place ask again and again: one line is enough for all of them.
    const isRepeated = code === this.#refusing;
    this.#refusing = PASSING.has(code) ? code : undefined;
    this.#log(isRepeated ? "debug" : "warning", "Job was refused", { job: id, code });
  }

  cancelled({ id }: TableJob): void {
    this.#log("info", "Job is asked to end", { job: id });
  }

  ended({ id, info }: TableJob): void {
    const { status, exitCode: exit_code, startedAt, finishedAt = startedAt, error, stdoutBytes, stderrBytes } = info;
    const seconds = (finishedAt - startedAt) / 1000;
    this.#counters.add("jobs_ended_total", { status });
    this.#counters.add("job_seconds_total", {}, seconds);
    this.#counters.add("job_output_bytes_total", {}, stdoutBytes + stderrBytes);
    this.#log("info", "Job ended", { job: id, status, exit_code, seconds, code: error?.code });
  }

  removed({ id }: TableJob, why: "closed" | "expired"): void {
    this.#log("debug", why === "closed" ? "Job was closed" : "Job expired", { job: id });
  }

  /** All figures in the text format of Prometheus, with those of the table and of the process at this moment. */
  format(now: TableFigures): string {
    return [
      this.#counters.format(),
      formatGauge("step_runner_jobs", "Jobs that run, and those that ended and are kept.", [
        [{ state: "running" }, now.running],
        [{ state: "ended" }, now.ended],
      ]),
      formatGauge("step_runner_max_jobs", "How many jobs may run at once.", [[{}, now.maxJobs]]),
      formatGauge("step_runner_draining", "1 while no new jobs are taken, because the service is to end.", [
        [{}, Number(now.isDraining)],
      ]),
      formatGauge("process_start_time_seconds", "The start of the process, since 1970.", [
        // Prometheus takes another number for another process: it must not follow the clock.
        [{}, performance.timeOrigin / 1000],
      ]),
      formatGauge("process_resident_memory_bytes", "The memory of the process.", [[{}, process.memoryUsage.rss()]]),
    ].join("");
  }
}
