import { join } from "node:path";
import { terminalOf } from "@steps/console/terminal";
import { checkReplay, type ReplayReport } from "@steps/engine";
import { sharedArtifacts } from "@steps/engine/github";
import { privateDirectory, userDirectories } from "@steps/engine/runs";
import { printable } from "@steps/model/diagnostic";
import { REPLAY_EXITS } from "@steps/model/exit-codes";
import { type decodePipelineTrace, verifyPipelineTrace } from "@steps/trace/pipeline";
import { Workspaces } from "@steps/workspace";
import { LinePrefix } from "@steps/pipeline-view";
import { type RecordedRun, skippedJobs } from "./recorded-runs.ts";
import type { ReplayOfJob, ReplaySession } from "./replay-session.ts";
import { ReplayStores } from "./replay-stores.ts";

type PipelineTrace = Awaited<ReturnType<typeof decodePipelineTrace>>;
type Verdict = ReplayReport["verdict"];

/** The replay of one run of a pipeline. */
interface JobReplay {
  readonly name: string;
  /** Absent for a run that was not replayed. */
  readonly report?: ReplayReport;
}

/** The replay of a pipeline. */
export interface PipelineReplay {
  /** The worst one of its jobs. */
  readonly verdict: Verdict;
  readonly exitCode: number;
  /** Why, a sentence each, where it is not of one job. */
  readonly reasons: readonly string[];
  readonly traceId: string;
  /** In the order in which they ran. */
  readonly jobs: readonly JobReplay[];
  /** The jobs that the pipeline skipped. */
  readonly skipped: readonly string[];
}

const BY_SEVERITY: readonly Verdict[] = [
  "same",
  "runtime-drift",
  "different",
  "missing-secret",
  "component-unavailable",
  "component-mismatch",
  "trace-invalid",
  "error",
  "cancelled",
];

/** Runs all jobs of a pipeline again, one after the other, if all of them can be. A job that cannot be run ends it. */
export async function replayPipeline(
  session: ReplaySession,
  pipeline: PipelineTrace,
  runs: readonly RecordedRun[],
): Promise<PipelineReplay> {
  const unready = problemsOf(session, pipeline, runs);
  if (unready !== undefined) return reportOf(pipeline, { ...unready, jobs: runs.map(({ name }) => ({ name })) });
  const { stateDir } = session.options;
  await using workspaces = new Workspaces(privateDirectory(stateDir ?? userDirectories(process.env).state));
  const folder = workspaces.next();
  const stores = new ReplayStores(join(folder, "stores"));
  const artifacts = await sharedArtifacts();
  const artifactDir = session.options.artifactDir ?? join(folder, "artifacts");
  const jobs: JobReplay[] = [];
  let verdict: Verdict = "same";
  for (const { name, trace } of runs) {
    if (trace === undefined || isEnd(verdict)) {
      jobs.push({ name });
      continue;
    }
    const job = { inputs: stores.inputsOf(trace), github: { artifactDir, artifacts } };
    const report = await withName(session, name, (onOutput) => session.replay(trace, { ...job, onOutput }));
    verdict = worse(verdict, report.verdict);
    jobs.push({ name, report });
  }
  return reportOf(pipeline, { verdict, reasons: [], jobs });
}

interface Ended {
  readonly verdict: Verdict;
  readonly reasons: readonly string[];
  readonly jobs: readonly JobReplay[];
}

function reportOf(pipeline: PipelineTrace, { verdict, reasons, jobs }: Ended): PipelineReplay {
  const { traceId = "" } = pipeline;
  return { verdict, exitCode: REPLAY_EXITS[verdict].code, reasons, traceId, jobs, skipped: skippedJobs(pipeline) };
}

// Nothing runs before it is known that every job can be.
function problemsOf(
  { options }: ReplaySession,
  pipeline: PipelineTrace,
  runs: readonly RecordedRun[],
): Omit<Ended, "jobs"> | undefined {
  const changed = verifyPipelineTrace(pipeline);
  if (changed.length > 0) return { verdict: "trace-invalid", reasons: changed };
  const lost = runs.filter(({ trace }) => trace === undefined);
  if (lost.length > 0)
    return { verdict: "trace-invalid", reasons: lost.map(({ name }) => `${name}: The trace does not hold its run`) };
  const stores = new ReplayStores("/");
  const unready = runs.flatMap(({ name, trace }) => {
    const found = trace && checkReplay(trace, { secrets: options.secret, inputs: stores.inputsOf(trace) });
    return found === undefined ? [] : [{ ...found, reasons: found.reasons.map((reason) => `${name}: ${reason}`) }];
  });
  if (unready.length === 0) return undefined;
  return {
    verdict: unready.map(({ verdict }) => verdict).reduce(worse),
    reasons: unready.flatMap(({ reasons }) => reasons),
  };
}

async function withName<Result>(
  session: ReplaySession,
  name: string,
  replay: (onOutput: NonNullable<ReplayOfJob["onOutput"]>) => Promise<Result>,
): Promise<Result> {
  const prefix = terminalOf(2).dim(`${printable(name)} | `);
  const writers = {
    stdout: new LinePrefix(session.writerOf("stdout"), prefix),
    stderr: new LinePrefix(session.writerOf("stderr"), prefix),
  };
  const result = await replay((stream, chunk) => writers[stream].write(chunk));
  await writers.stdout.end();
  await writers.stderr.end();
  return result;
}

/** Whether nothing more is run: the jobs that come may need the one that was not. */
function isEnd(verdict: Verdict): boolean {
  return BY_SEVERITY.indexOf(verdict) > BY_SEVERITY.indexOf("different");
}

function worse(a: Verdict, b: Verdict): Verdict {
  return BY_SEVERITY.indexOf(b) > BY_SEVERITY.indexOf(a) ? b : a;
}
