import { UsageError } from "@steps/console";
import type { Terminal } from "@steps/console/terminal";
import { verdictOf } from "@steps/engine/runs";
import { printable } from "@steps/model/diagnostic";
import { REPLAY_EXITS } from "@steps/model/exit-codes";
import { assertReplayable, verifyTrace } from "@steps/trace";
import { type Comparison, type CompareOptions, compareTraces } from "@steps/trace/compare";
import { assertPipelineReplayable, verifyPipelineTrace } from "@steps/trace/pipeline";
import { recordedRuns } from "./recorded-runs.ts";
import { differenceRows, headlineOf } from "./replay-report.ts";
import type { FoundTrace, JobTrace, PipelineTrace } from "../traces/find-trace.ts";

type Verdict = "same" | "runtime-drift" | "different" | "trace-invalid";

/** The comparison of two jobs. */
interface JobDiff {
  /** Absent for two traces of one job each. */
  readonly name?: string;
  readonly verdict: Verdict;
  readonly reasons: readonly string[];
  readonly comparison?: Comparison["verdict"];
  readonly steps?: Comparison["steps"];
  readonly differences: Comparison["differences"];
}

/** The comparison of two traces, with the members that a report of `replay` has. */
export interface TraceDiff extends JobDiff {
  readonly exitCode: number;
  readonly traceIds: readonly [string, string];
  /** The jobs of two pipelines. */
  readonly jobs?: readonly JobDiff[];
}

const BY_SEVERITY: readonly Verdict[] = ["same", "runtime-drift", "different", "trace-invalid"];

/**
 * Compares two traces of jobs, or two of pipelines.
 *
 * @throws {UsageError} if one is of a job and one of a pipeline
 * @throws {TraceError} VERSION_UNSUPPORTED
 */
export function diffTraces(a: FoundTrace, b: FoundTrace, options: CompareOptions): TraceDiff {
  const traceIds = [a.trace.traceId ?? "", b.trace.traceId ?? ""] as const;
  if (a.kind === "job" && b.kind === "job") return whole(diffJobs(a.trace, b.trace, options), traceIds);
  if (a.kind === "pipeline" && b.kind === "pipeline") return diffPipelines(a.trace, b.trace, { ...options, traceIds });
  throw new UsageError("One trace is of a job, the other of a pipeline", "Only traces of one kind can be compared.");
}

function whole(diff: JobDiff, traceIds: readonly [string, string]): TraceDiff {
  return { ...diff, exitCode: REPLAY_EXITS[diff.verdict].code, traceIds };
}

function diffJobs(a: JobTrace, b: JobTrace, options: CompareOptions): JobDiff {
  for (const trace of [a, b]) assertReplayable(trace);
  const problems = [a, b].flatMap((trace) => verifyTrace(trace));
  if (problems.length > 0) return { verdict: "trace-invalid", reasons: problems, differences: [] };
  const comparison = compareTraces(a, b, options);
  const { verdict, steps, differences } = comparison;
  return { verdict: verdictOf(comparison) as Verdict, reasons: [], comparison: verdict, steps, differences };
}

function diffPipelines(
  a: PipelineTrace,
  b: PipelineTrace,
  { traceIds, ...options }: CompareOptions & { readonly traceIds: readonly [string, string] },
): TraceDiff {
  for (const trace of [a, b]) assertPipelineReplayable(trace);
  const problems = [a, b].flatMap((trace) => verifyPipelineTrace(trace));
  if (problems.length > 0) return whole({ verdict: "trace-invalid", reasons: problems, differences: [] }, traceIds);
  const others = new Map(recordedRuns(b).map(({ name, trace }) => [name, trace]));
  const jobs: JobDiff[] = [];
  for (const { name, trace } of recordedRuns(a)) {
    const other = others.get(name);
    others.delete(name);
    if (trace === undefined || other === undefined) jobs.push(onlyIn("first", name));
    else jobs.push({ name, ...diffJobs(trace, other, options) });
  }
  for (const name of others.keys()) jobs.push(onlyIn("second", name));
  const verdict = jobs.map((job) => job.verdict).reduce(worse, "same");
  return { ...whole({ verdict, reasons: [], differences: [] }, traceIds), jobs };
}

function onlyIn(which: "first" | "second", name: string): JobDiff {
  return { name, verdict: "different", reasons: [`Only the ${which} pipeline ran the job`], differences: [] };
}

function worse(a: Verdict, b: Verdict): Verdict {
  return BY_SEVERITY.indexOf(b) > BY_SEVERITY.indexOf(a) ? b : a;
}

/** The comparison for people: the verdict, and each difference with what the first trace has and what the second. */
export function formatDiff(diff: TraceDiff, terminal: Terminal): string {
  const { jobs } = diff;
  if (jobs === undefined) return formatJob(diff, "Traces", terminal);
  const parts = jobs.map((job) => formatJob(job, printable(job.name ?? ""), terminal));
  return [...parts, formatJob(diff, "Pipelines", terminal)].join("");
}

function formatJob({ verdict, reasons, differences }: JobDiff, title: string, { bold }: Terminal): string {
  const headline = verdict === "trace-invalid" ? "Not compared: a trace was changed" : headlineOf(verdict);
  const rows = [
    bold(`${title}: ${headline}`),
    ...reasons.map((reason) => `  ${printable(reason)}`),
    ...differenceRows(differences),
  ];
  return `${rows.join("\n")}\n`;
}
