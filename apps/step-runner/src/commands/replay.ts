import { defineCommand, UsageError } from "@steps/console";
import { print, terminalOf } from "@steps/console/terminal";
import { printable } from "@steps/model/diagnostic";
import { type ExitCode, REPLAY_EXITS } from "@steps/model/exit-codes";
import { assertReplayable, decodeTrace } from "@steps/trace";
import { assertPipelineReplayable, decodePipelineTrace, isPipelineTrace } from "@steps/trace/pipeline";
import { formatPlan } from "../replay/format-plan.ts";
import { formatPipelineReport, pipelineReportJson } from "../replay/pipeline-report.ts";
import { isWanted } from "../replay/is-wanted.ts";
import { recordedRunOf, recordedRuns } from "../replay/recorded-runs.ts";
import { type ReplayFlags, replayFlags } from "../replay/replay-flags.ts";
import { ReplaySession } from "../replay/replay-session.ts";
import { replayPipeline } from "../replay/replay-pipeline.ts";
import { formatReplayReport, replayReportJson } from "../replay/replay-report.ts";
import { inFile, readTraceText, RUN_LISTING, stateOf } from "../traces/find-trace.ts";
import { writeTrace } from "../traces/write-trace.ts";

type Trace = Awaited<ReturnType<typeof decodeTrace>>;
type PipelineTrace = Awaited<ReturnType<typeof decodePipelineTrace>>;

export const replay = defineCommand({
  name: "replay",
  summary: "Run a trace again with exactly its components and inputs, and compare",
  usage: "FILE|RUN|- [flags]",
  description: [
    `Components are verified before anything runs. Exit codes: ${exitCodes()}.`,
    "RUN is the beginning of the id of a run that is kept, as trace ls lists them.",
    "A trace is a program: on a terminal its components are shown and you are asked before it runs, unless --yes is given.",
  ],
  flags: replayFlags,
  positionals: { min: 1, max: 1, listedBy: RUN_LISTING },
  examples: [
    ["step-runner replay trace.json", "run a trace again"],
    ["step-runner replay 1f0c", "run one of the runs again that trace ls lists"],
    ["step-runner replay trace.json --job test", "run one job of a pipeline again; without --job all of them run"],
    [
      "step-runner replay trace.json --report json > report.json",
      "for machines; the output of the steps goes to standard error",
    ],
    ["step-runner replay trace.json --secret TOKEN=env:TOKEN", "supply a value that was masked"],
  ],
  run,
});

async function run(options: ReplayFlags, [path = ""]: readonly string[]): Promise<number> {
  const text = readTraceText(path, stateOf(options));
  if (!isPipelineTrace(text)) {
    if (options.job !== undefined)
      throw new UsageError("--job is given", `"${path}" is the trace of one job, not of a pipeline.`);
    return runOne(options, await inFile(path, () => decodeTrace(text)), path);
  }
  const pipeline = await inFile(path, () => decodePipelineTrace(text));
  assertPipelineReplayable(pipeline);
  return options.job === undefined
    ? runAll(options, pipeline, path)
    : runOne(options, recordedRunOf(pipeline, options.job), path);
}

async function runOne(options: ReplayFlags, trace: Trace, path: string): Promise<number> {
  assertReplayable(trace);
  const plan = formatPlan(trace);
  if (options.dryRun) {
    await print(plan);
    return 0;
  }
  if (!(await isWanted(options, plan))) return REPLAY_EXITS.cancelled.code;
  await using session = new ReplaySession(options, path);
  const report = await session.replay(trace);
  const { outputFile } = options;
  if (outputFile !== undefined && report.replay !== undefined) writeTrace(outputFile, report.replay.trace());
  await show(options, {
    json: () => replayReportJson(report),
    text: () => formatReplayReport(report, { terminal: terminalOf(1) }),
  });
  return exitCodeOf(options, report);
}

async function runAll(options: ReplayFlags, pipeline: PipelineTrace, path: string): Promise<number> {
  if (options.outputFile !== undefined)
    throw new UsageError(
      "--output-file is given for a whole pipeline",
      "It takes the trace of one job: name the job with --job NAME.",
    );
  const runs = recordedRuns(pipeline);
  for (const { trace } of runs) if (trace !== undefined) assertReplayable(trace);
  const plan = runs
    .map(({ name, trace }) => `${printable(name)}: ${trace ? formatPlan(trace) : "has no trace\n"}`)
    .join("");
  if (options.dryRun) {
    await print(plan);
    return 0;
  }
  if (!(await isWanted(options, plan))) return REPLAY_EXITS.cancelled.code;
  await using session = new ReplaySession(options, path);
  const report = await replayPipeline(session, pipeline, runs);
  await show(options, {
    json: () => pipelineReportJson(report),
    text: () => formatPipelineReport(report, terminalOf(1)),
  });
  return exitCodeOf(options, report);
}

async function show(
  { report }: ReplayFlags,
  forms: { readonly json: () => unknown; readonly text: () => string },
): Promise<void> {
  await print(report === "json" ? `${JSON.stringify(forms.json(), null, 2)}\n` : forms.text());
}

function exitCodeOf(
  { reportOnly }: ReplayFlags,
  { verdict, exitCode }: { readonly verdict: string; readonly exitCode: number },
): number {
  const isDifference = verdict === "different" || verdict === "runtime-drift";
  return isDifference && reportOnly ? 0 : exitCode;
}

function exitCodes(): string {
  const rows: readonly ExitCode[] = Object.values(REPLAY_EXITS);
  return rows.flatMap(({ code, meaning }) => (meaning === undefined ? [] : [`${code} ${meaning}`])).join(", ");
}
