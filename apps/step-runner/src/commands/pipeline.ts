import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineCommand, UsageError } from "@steps/console";
import { assertWritable, errors, print } from "@steps/console/terminal";
import { markVariables } from "@steps/engine/environment";
import { sharedArtifacts } from "@steps/engine/github";
import { userDirectories } from "@steps/engine/runs";
import { COMMAND_EXITS, JOB_EXITS } from "@steps/model/exit-codes";
import { exitCodeOf } from "@steps/model";
import { Places } from "@steps/pipeline";
import { takeSnapshot, Workspaces } from "@steps/workspace";
import { baseEnvironment } from "../job-flags.ts";
import { hideEnvironment } from "../hide-environment.ts";
import { isWorkflow } from "../is-workflow.ts";
import { openEngine } from "../open-engine.ts";
import { formatJson, formatJunit, formatList, formatMarkdown, formatTable } from "../pipeline/format-pipeline.ts";
import { type PipelineOptions, pipelineFlags } from "../pipeline/pipeline-flags.ts";
import type { PipelineRow } from "../pipeline/pipeline-rows.ts";
import { PipelineView } from "../pipeline/pipeline-view.ts";
import { listJobs } from "../pipeline/list-jobs.ts";
import { planOnly, runWorkflow, worstOf } from "../pipeline/run-workflow.ts";
import { projectOf } from "../read-workflow-job.ts";
import { givenVariables } from "../load-ci-file.ts";
import { StopSignals } from "../signals.ts";
import { writePipelineTrace } from "../write-trace.ts";

export const pipeline = defineCommand({
  name: "pipeline",
  summary: "Run all jobs of a workflow",
  usage: "FILE [flags]",
  description: [
    "FILE is a workflow of GitHub. Its jobs run in the order of their needs, as many at once as --jobs says, each in a private copy of the project with the changes that are not committed. Outputs and artifacts are handed on; conditions, matrices made of outputs, fail-fast, max-parallel, continue-on-error, concurrency and calls of workflows in the same project are honoured.",
    "A table at the end tells each job with its result. The exit code is 0 if all jobs passed, were skipped or may fail; otherwise that of the first job that failed.",
  ],
  flags: pipelineFlags,
  positionals: { min: 1, max: 1 },
  examples: [
    ["step-runner pipeline .github/workflows/ci.yml", "run a workflow"],
    ["step-runner pipeline .github/workflows/ci.yml --list", "show its jobs"],
    ["step-runner pipeline ci.yml --only test --jobs 1", "run the job test after those that it needs"],
    ["step-runner pipeline ci.yml --report junit > report.xml", "write a report"],
  ],
  async run(options, [path = ""]) {
    if (!isWorkflow(options, path))
      throw new UsageError(
        `"${path}" is not a workflow of GitHub`,
        "The jobs of a .gitlab-ci.yml run one by one: step-runner local --job-name JOB.",
      );
    const project = options.workDir ?? projectOf(path);
    return options.list ? list(options, path, project) : runAll(options, path, project);
  },
});

async function list(options: PipelineOptions, path: string, project: string): Promise<number> {
  const { jobs } = planOnly(options, path, project);
  if (jobs.length === 0) return COMMAND_EXITS.input.code;
  const rows = await listJobs(jobs);
  if (options.report === undefined) await print(formatList(rows));
  else await printReport(options.report, rows, { result: "planned", path });
  return 0;
}

async function runAll(options: PipelineOptions, path: string, project: string): Promise<number> {
  hideEnvironment();
  using stop = new StopSignals();
  const state = options.stateDir ?? userDirectories(process.env).state;
  const { outputFile } = options;
  if (outputFile !== undefined) assertWritable(outputFile);
  await using engine = openEngine(options, { excluded: [outputFile] });
  await using workspaces = new Workspaces(state);
  await workspaces.sweep();
  const snapshot = options.inPlace
    ? undefined
    : await takeSnapshot({ project, target: workspaces.next(), env: process.env, signal: stop.hurry });
  const view = new PipelineView({ isQuiet: options.quiet, hasReport: options.report !== undefined });
  const exitCodes: number[] = [];
  await using recording = engine.recordPipeline({
    language: "github",
    source: path,
    projectDir: project,
    maskedValues: maskedValues(options),
    wantsTrace: outputFile !== undefined,
  });
  const results = await runWorkflow(
    {
      options,
      engine,
      recording,
      stop,
      view,
      project,
      places: new Places(options.jobs ?? availableParallelism()),
      workspaceOf: async (signal) => (await snapshot?.copyTo(workspaces.next(), signal)) ?? project,
      artifacts: await sharedArtifacts(),
      artifactDir: options.artifactDir ?? join(workspaces.next(), "artifacts"),
      exitCodes,
    },
    path,
  );
  const status = results === undefined ? "error" : worstOf(results);
  recording.finish(status);
  if (results === undefined) return COMMAND_EXITS.input.code;
  if (outputFile !== undefined) writePipelineTrace(outputFile, recording.trace());
  if (options.report !== undefined) await printReport(options.report, view.rows, { result: status, path });
  else if (!options.quiet) await errors.writeLines(`\n${formatTable(view.rows)}`);
  if (outputFile !== undefined && !options.quiet) await errors.writeLines(`Trace: ${outputFile}\n`);
  if (status === "success") return 0;
  return status === "cancelled"
    ? exitCodeOf({ status, signal: stop.signalName })
    : (exitCodes[0] ?? JOB_EXITS.other.code);
}

// What a job is not told, the record of the pipeline may still hold: the name of a job, or the reason of its end.
function maskedValues(options: PipelineOptions): readonly string[] {
  const env = baseEnvironment(options, {});
  const { maskedValues: marked } = markVariables(
    { vars: givenVariables(options), env, offeredEnv: {} },
    options.maskVariable,
  );
  return [...options.mask, ...Object.values(options.secret), ...marked];
}

function printReport(
  kind: "json" | "junit" | "markdown",
  rows: readonly PipelineRow[],
  { result, path }: { readonly result: string; readonly path: string },
): Promise<void> {
  if (kind === "junit") return print(formatJunit(rows, path));
  return print(kind === "json" ? formatJson(rows, result) : formatMarkdown(rows));
}
