import { UsageError } from "@steps/console";
import type { decodeTrace } from "@steps/trace";
import { type decodePipelineTrace, fullName } from "@steps/trace/pipeline";
import { jobsOf } from "../traces/trace-jobs.ts";

type Trace = Awaited<ReturnType<typeof decodeTrace>>;
type PipelineTrace = Awaited<ReturnType<typeof decodePipelineTrace>>;

/** The run of an instance of a pipeline that counts: its last attempt. */
export interface RecordedRun {
  /** The instance, behind those that call its pipeline. */
  readonly name: string;
  /** Absent where the trace of the pipeline does not hold it. */
  readonly trace: Trace | undefined;
}

/** The runs of a pipeline in the order in which they began: each stands behind those that it needs. */
export function recordedRuns({ jobs = [] }: PipelineTrace): RecordedRun[] {
  const runs = jobs.flatMap(({ caller = "", instances = [] }) =>
    instances.flatMap(({ name = "", attempts = [] }) => {
      const last = attempts.at(-1);
      return last === undefined ? [] : [{ name: fullName(caller, name), trace: last.trace }];
    }),
  );
  return runs.toSorted((a, b) => startOf(a) - startOf(b));
}

/** The jobs of a pipeline that did not run, though nobody called a pipeline in their place. */
export function skippedJobs({ jobs = [] }: PipelineTrace): string[] {
  return jobs.flatMap(({ name = "", caller = "", status }) => (status === "skipped" ? [fullName(caller, name)] : []));
}

/** The run of the one job or instance that a name means. @throws {UsageError} if there is none, or there are several */
export function recordedRunOf(pipeline: PipelineTrace, job: string): Trace {
  const runs = jobsOf(pipeline, job).flatMap(({ instances = [] }) =>
    instances.map(({ attempts = [] }) => attempts.at(-1)?.trace),
  );
  const found = runs.filter((trace) => trace !== undefined);
  const [trace] = found;
  if (trace === undefined) throw new UsageError(`The job "${job}" did not run`, "trace show FILE tells why.");
  if (found.length > 1)
    throw new UsageError(
      `The job "${job}" has ${found.length} instances`,
      "Name one of them: trace show FILE lists them.",
    );
  return trace;
}

function startOf({ trace }: RecordedRun): number {
  const time = Date.parse(trace?.startedAt ?? "");
  return Number.isNaN(time) ? 0 : time;
}
