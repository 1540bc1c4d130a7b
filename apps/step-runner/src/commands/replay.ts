import {
  type Command,
  type CommandLine,
  errors,
  grouped,
  output,
  print,
  readSecrets,
  terminalOf,
} from "@steps/console";
import { planReplay, type ReplayReport } from "@steps/engine";
import { shortDigest } from "@steps/model";
import { assertReplayable } from "@steps/trace";
import { sourceFlags } from "../component-flags.ts";
import { githubFlags, githubOptions } from "../github-flags.ts";
import { exportFlags } from "../allowed-exports.ts";
import { hideEnvironment } from "../hide-environment.ts";
import { openEngine } from "../open-engine.ts";
import { Progress } from "../progress.ts";
import { readTrace } from "../read-trace.ts";
import { formatReplayReport, replayReportJson } from "../replay-report.ts";
import { fetchFlags, runFlags, stateDir } from "../run-flags.ts";
import { absolute } from "../absolute.ts";
import { StopSignals } from "../signals.ts";
import { writeTrace } from "../write-trace.ts";
import { confirm } from "../confirm.ts";

type Trace = Awaited<ReturnType<typeof readTrace>>;

export const replay: Command = {
  name: "replay",
  summary: "Run a trace again with exactly its components and inputs, and compare",
  usage: "TRACE [flags]",
  description: [
    "Components are verified before anything runs. Exit codes: 0 the same (also if the job failed in both, which the report says), 10 different, 11 a component is not what the " +
      "trace names, 12 a component cannot be had, 13 a redacted value is missing, 14 the trace is damaged or was changed, 15 the runtime differs " +
      "(with --strict), 16 a newer kind of trace, 130 cancelled, 1 a fault of the runner.",
    "A trace is a program: on a terminal its components are shown and you are asked before it runs, unless --yes is given.",
  ],
  flags: {
    "dry-run": { type: "boolean", summary: "Only show what would be used" },
    yes: { type: "boolean", summary: "Do not ask", env: "STEP_RUNNER_YES" },
    secret: {
      type: "list",
      placeholder: "NAME=VALUE",
      summary: "What the trace holds redacted; VALUE may be env:X or file:P; repeat for more",
    },
    "output-file": { type: "string", placeholder: "FILE", summary: "Write the trace of the replay to a file" },
    timeout: runFlags["timeout"] as (typeof runFlags)[string],
    quiet: runFlags["quiet"] as (typeof runFlags)[string],
    ...exportFlags,
    ...grouped("The comparison and its report", {
      strict: { type: "boolean", summary: "Logs, tools and the machine must be the same too" },
      ignore: {
        type: "list",
        placeholder: "POINTER",
        summary: "A difference that does not count, such as outputs.build.time; repeat for more",
      },
      report: { type: "string", summary: "The form of the report", choices: ["text", "json"], default: "text" },
      "report-only": { type: "boolean", summary: "Exit with 0 also when the run differs" },
    }),
    ...grouped("The run and its records", {
      "work-dir": {
        type: "string",
        placeholder: "DIR",
        summary: "Where the steps run; the recorded directory by default",
      },
      grace: runFlags["grace"] as (typeof runFlags)[string],
      "state-dir": stateDir,
      "trace-sync": runFlags["trace-sync"] as (typeof runFlags)[string],
    }),
    ...fetchFlags,
    ...sourceFlags,
    ...githubFlags,
  },
  positionals: { min: 1, max: 1 },
  examples: [
    ["step-runner replay trace.json", "run a trace again"],
    [
      "step-runner replay trace.json --report json > report.json",
      "for machines; the output of the steps goes to standard error",
    ],
    ["step-runner replay trace.json --secret TOKEN=env:TOKEN", "supply a value that was masked"],
  ],
  run,
};

async function run(line: CommandLine): Promise<number> {
  const secrets = readSecrets(line.list("secret"));
  const trace = await readTrace(line.positionals[0] as string);
  assertReplayable(trace);
  if (line.boolean("dry-run")) {
    await print(plan(trace));
    return 0;
  }
  if (!(await isWanted(line, trace))) return 130;
  const report = await execute(line, trace, secrets);
  const isJson = line.string("report") === "json";
  await print(
    isJson ? `${JSON.stringify(replayReportJson(report), null, 2)}\n` : formatReplayReport(report, terminalOf(1)),
  );
  const isDifference = report.verdict === "different" || report.verdict === "runtime-drift";
  return isDifference && line.boolean("report-only") ? 0 : report.exitCode;
}

async function execute(
  line: CommandLine,
  trace: Trace,
  secrets: Readonly<Record<string, string>>,
): Promise<ReplayReport> {
  hideEnvironment();
  const written = [line.string("output-file"), line.positionals[0], "step-results.json", "step-results.txtpb"];
  await using engine = openEngine(line, { excluded: written });
  using stop = new StopSignals();
  const progress = new Progress(line.boolean("quiet"));
  const workDir = line.string("work-dir");
  const timeoutMs = line.number("timeout");
  const graceMs = line.number("grace");
  // With a report for machines standard output is the report's alone.
  const stdout = line.string("report") === "json" ? errors : output;
  const report = await engine.replay(trace, {
    secrets,
    workDir: workDir === undefined ? undefined : absolute(workDir),
    isStrict: line.boolean("strict"),
    github: githubOptions(line),
    ignore: line.list("ignore"),
    hooks: {
      onEvent: progress.onEvent,
      onProgress: progress.onProgress,
      onOutput: (stream, chunk) => (stream === "stdout" ? stdout : errors).write(chunk),
    },
    timeoutMs,
    graceMs,
    hurry: stop.hurry,
    signal: stop.signal,
  });
  const outputFile = line.string("output-file");
  if (outputFile !== undefined && report.replay !== undefined) writeTrace(outputFile, report.replay.trace());
  return report;
}

async function isWanted(line: CommandLine, trace: Trace): Promise<boolean> {
  if (line.boolean("yes") || !process.stdin.isTTY || !terminalOf(2).isTerminal) return true;
  await errors.write(Buffer.from(plan(trace)));
  return confirm("Run this?");
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
