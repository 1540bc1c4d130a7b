import { existsSync } from "node:fs";
import { defineCommand, flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { errors, output, print, terminalOf } from "@steps/console/terminal";
import { planReplay, type ReplayReport } from "@steps/engine";
import { shortDigest } from "@steps/model/digest";
import { type ExitCode, REPLAY_EXITS } from "@steps/model/exit-codes";
import { assertReplayable, decodeTrace } from "@steps/trace";
import { assertPipelineReplayable, decodePipelineTrace, isPipelineTrace } from "@steps/trace/pipeline";
import { sourceFlags } from "../component-flags.ts";
import { githubFlags, githubOptions } from "../github-flags.ts";
import { exportFlags } from "../allowed-exports.ts";
import { hideEnvironment } from "../hide-environment.ts";
import { openEngine } from "../open-engine.ts";
import { Progress } from "../progress.ts";
import { readText } from "../read-source.ts";
import { jobsOf } from "../trace-jobs.ts";
import { formatReplayReport, replayReportJson } from "../replay-report.ts";
import { fetchFlags, runFlags, stateDir } from "../run-flags.ts";
import { StopSignals } from "../signals.ts";
import { JobWorkspace } from "../workspace/job-workspace.ts";
import { writeTrace } from "../write-trace.ts";
import { confirm } from "../confirm.ts";

type Trace = Awaited<ReturnType<typeof decodeTrace>>;

const flags = {
  job: flag.text({ placeholder: "NAME", summary: "The job, or its instance, of a pipeline's trace" }),
  "dry-run": flag.boolean({ summary: "Only show what would be used" }),
  yes: flag.boolean({ summary: "Do not ask", env: "STEP_RUNNER_YES" }),
  secret: flag.secrets({
    summary: "What the trace holds redacted; VALUE may be env:X or file:P; repeat for more",
  }),
  "output-file": flag.text({ placeholder: "FILE", summary: "Write the trace of the replay to a file" }),
  timeout: runFlags.timeout,
  quiet: runFlags.quiet,
  ...exportFlags,
  ...grouped("The comparison and its report", {
    strict: flag.boolean({ summary: "Logs, tools and the machine must be the same too" }),
    ignore: flag.list({
      placeholder: "POINTER",
      summary: "A difference that does not count, such as outputs.build.time; repeat for more",
    }),
    report: flag.choice(["text", "json"], { summary: "The form of the report", default: "text" }),
    "report-only": flag.boolean({ summary: "Exit with 0 also when the run differs" }),
  }),
  ...grouped("The run and its records", {
    "work-dir": flag.path({
      placeholder: "DIR",
      summary: "Where the steps run; the recorded directory by default, or a copy of the project if the job ran in one",
    }),
    grace: runFlags.grace,
    "state-dir": stateDir,
    "trace-sync": runFlags["trace-sync"],
  }),
  ...fetchFlags,
  ...sourceFlags,
  ...githubFlags,
};
type Options = OptionsOf<typeof flags>;

export const replay = defineCommand({
  name: "replay",
  summary: "Run a trace again with exactly its components and inputs, and compare",
  usage: "TRACE [flags]",
  description: [
    `Components are verified before anything runs. Exit codes: ${exitCodes()}.`,
    "A trace is a program: on a terminal its components are shown and you are asked before it runs, unless --yes is given.",
  ],
  flags,
  positionals: { min: 1, max: 1 },
  examples: [
    ["step-runner replay trace.json", "run a trace again"],
    ["step-runner replay trace.json --job test", "run one job of a pipeline again"],
    [
      "step-runner replay trace.json --report json > report.json",
      "for machines; the output of the steps goes to standard error",
    ],
    ["step-runner replay trace.json --secret TOKEN=env:TOKEN", "supply a value that was masked"],
  ],
  run,
});

async function run(options: Options, [path = ""]: readonly string[]): Promise<number> {
  const trace = await readReplayed(path, options.job);
  assertReplayable(trace);
  if (options.dryRun) {
    await print(plan(trace));
    return 0;
  }
  if (!(await isWanted(options, trace))) return REPLAY_EXITS.cancelled.code;
  const report = await execute(options, trace, path);
  const isJson = options.report === "json";
  await print(
    isJson ? `${JSON.stringify(replayReportJson(report), null, 2)}\n` : formatReplayReport(report, terminalOf(1)),
  );
  const isDifference = report.verdict === "different" || report.verdict === "runtime-drift";
  return isDifference && options.reportOnly ? 0 : report.exitCode;
}

// Of several attempts the last one counts.
async function readReplayed(path: string, job: string | undefined): Promise<Trace> {
  const text = readText(path);
  if (!isPipelineTrace(text)) {
    if (job === undefined) return decodeTrace(text);
    throw new UsageError("--job is given", `"${path}" is the trace of one job, not of a pipeline.`);
  }
  const pipeline = await decodePipelineTrace(text);
  assertPipelineReplayable(pipeline);
  if (job === undefined)
    throw new UsageError(`"${path}" is the trace of a pipeline`, "Name the job to replay: --job NAME.");
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

async function execute(options: Options, trace: Trace, path: string): Promise<ReplayReport> {
  hideEnvironment();
  const written = [options.outputFile, path, "step-results.json", "step-results.txtpb"];
  await using engine = openEngine(options, { excluded: written });
  using stop = new StopSignals();
  const progress = new Progress(options.quiet);
  await using workspace = new JobWorkspace({ ...options, inPlace: false });
  const workDir = options.workDir ?? (await placeOf(trace, workspace));
  await workspace.fill(stop.signal);
  // With a report for machines standard output is the report's alone.
  const stdout = options.report === "json" ? errors : output;
  const report = await engine.replay(trace, {
    secrets: options.secret,
    workDir,
    workspace: workspace.copy,
    countsDrift: options.strict,
    github: githubOptions(options),
    ignore: options.ignore,
    hooks: {
      onEvent: progress.onEvent,
      onProgress: progress.onProgress,
      onOutput: (stream, chunk) => (stream === "stdout" ? stdout : errors).write(chunk),
    },
    timeoutMs: options.timeout,
    graceMs: options.grace,
    hurry: stop.hurry,
    signal: stop.signal,
  });
  const { outputFile } = options;
  if (outputFile !== undefined && report.replay !== undefined) writeTrace(outputFile, report.replay.trace());
  return report;
}

// A job that ran in a copy of its project runs in one again; the copy that it ran in is gone.
async function placeOf({ request }: Trace, workspace: JobWorkspace): Promise<string | undefined> {
  const { projectDir } = request ?? {};
  if (projectDir === undefined) return undefined;
  return workspace.place(existsSync(projectDir) ? projectDir : process.cwd());
}

async function isWanted({ yes }: Options, trace: Trace): Promise<boolean> {
  if (yes || !process.stdin.isTTY || !terminalOf(2).isTerminal) return true;
  await errors.write(Buffer.from(plan(trace)));
  return confirm("Run this?");
}

function exitCodes(): string {
  const rows: readonly ExitCode[] = Object.values(REPLAY_EXITS);
  return rows.flatMap(({ code, meaning }) => (meaning === undefined ? [] : [`${code} ${meaning}`])).join(", ");
}

function plan(trace: Trace): string {
  const rows = planReplay(trace).map(({ resource, location }) => {
    const digest = resource.digest?.["gitTree"] ?? resource.digest?.["sha256"] ?? "";
    const version = resource.resolvedVersion ?? "";
    return `  ${resource.kind ?? ""} ${location}${version === "" ? "" : `@${shortDigest(version)}`} tree ${shortDigest(digest)}`;
  });
  const source = trace.request?.source ?? "";
  return [
    `Trace ${trace.traceId ?? ""} of ${source}, run in ${trace.request?.workDir ?? ""}`,
    "Components:",
    ...(rows.length === 0 ? ["  none"] : rows),
    "",
  ].join("\n");
}
