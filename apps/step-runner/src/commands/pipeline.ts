import { defineCommand, UsageError } from "@steps/console";
import { errors, print } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { dirname } from "node:path";
import { absolute } from "../absolute.ts";
import { hideEnvironment } from "../hide-environment.ts";
import { isWorkflow } from "../is-workflow.ts";
import { findCiFile } from "../load-ci-file.ts";
import { formatDot, formatMermaid } from "../pipeline/format-graph.ts";
import { formatList, formatListJson, formatListMarkdown } from "../pipeline/format-list.ts";
import { formatJson, formatJunit, formatMarkdown, formatTable } from "../pipeline/format-pipeline.ts";
import { readCiPipeline } from "../pipeline/gitlab/read-ci-pipeline.ts";
import type { LocalPipeline } from "../pipeline/local-pipeline.ts";
import { openPipelineContext, recordSource } from "../pipeline/pipeline-context.ts";
import { type PipelineOptions, pipelineFlags } from "../pipeline/pipeline-flags.ts";
import type { PipelineRow } from "../pipeline/pipeline-rows.ts";
import { pipelineExitCode, statusOf } from "../pipeline/pipeline-status.ts";
import { writePipelineTrace } from "../write-trace.ts";

export const pipeline = defineCommand({
  name: "pipeline",
  summary: "Run all jobs of a CI file or of a workflow",
  usage: "[FILE] [flags]",
  description: [
    "FILE is the .gitlab-ci.yml of this folder or of the nearest above it unless given, or a workflow of GitHub. Its jobs run in the order of their stages and needs, as many at once as --jobs says, each in a private copy of the project as it was at the start, with the changes that are not committed. Outputs, artifacts and dotenv reports are handed on. Rules, conditions, matrices, retries, resource groups and concurrency, child pipelines and calls of workflows are honoured.",
    "A table at the end tells each job with its result. The exit code is 0 if all jobs passed, were skipped or may fail; otherwise that of the first job that failed.",
  ],
  flags: pipelineFlags,
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner pipeline", "run the .gitlab-ci.yml of the project"],
    ["step-runner pipeline --list", "show its jobs, and why each is in or out"],
    ["step-runner pipeline --only test --jobs 1", "run the job test after those that it needs"],
    ["step-runner pipeline --start deploy --variable TARGET=staging", "start a manual job when its turn comes"],
    ["step-runner pipeline --merge-request main --graph mermaid", "show what a merge request would run"],
    ["step-runner pipeline .github/workflows/ci.yml", "run a workflow"],
    ["step-runner pipeline ci.yml --report junit > report.xml", "write a report"],
  ],
  run,
});

async function run(options: PipelineOptions, [path = findCiFile()]: readonly string[]): Promise<number> {
  const { project, read } = await readerOf(options, path);
  const found = await read();
  if (found === undefined) return COMMAND_EXITS.input.code;
  if (options.list) return list(options, found);
  if (options.graph !== undefined) {
    await print(options.graph === "dot" ? formatDot(found.graph) : formatMermaid(found.graph));
    return 0;
  }
  return runAll(options, found, { path, project });
}

interface Reader {
  /** The folder of the project: absolute. */
  readonly project: string;
  readonly read: () => Promise<LocalPipeline | undefined>;
}

async function readerOf(options: PipelineOptions, path: string): Promise<Reader> {
  if (isWorkflow(options, path)) {
    const { projectOf } = await import("../read-workflow-job.ts");
    const { readWorkflow } = await import("../pipeline/github/run-workflow.ts");
    const project = options.workDir ?? projectOf(path);
    return { project, read: () => Promise.resolve(readWorkflow(options, path, project)) };
  }
  return { project: options.workDir ?? absolute(dirname(path)), read: () => readCiPipeline(options, path) };
}

async function list({ report }: PipelineOptions, { list: jobsOf }: LocalPipeline): Promise<number> {
  if (report === "junit") throw new UsageError("--report is junit", "A list of jobs is text, json or markdown.");
  const jobs = await jobsOf();
  if (report === undefined) await print(formatList(jobs));
  else await print(report === "json" ? formatListJson(jobs) : formatListMarkdown(jobs));
  return 0;
}

async function runAll(
  options: PipelineOptions,
  found: LocalPipeline,
  { path, project }: { readonly path: string; readonly project: string },
): Promise<number> {
  hideEnvironment();
  const { outputFile } = options;
  await using context = await openPipelineContext(options, { path, project, language: found.language });
  const { view, stop, recording } = context;
  for (const source of found.sources) recordSource(context, source);
  const results = await found.run(context);
  if (results === undefined) return COMMAND_EXITS.input.code;
  const status = statusOf(results);
  recording.finish(status);
  if (outputFile !== undefined) writePipelineTrace(outputFile, recording.trace());
  if (options.report !== undefined) await printReport(options.report, view.rows, { result: status, path });
  else if (!options.quiet) await errors.writeLines(`\n${formatTable(view.rows)}`);
  if (outputFile !== undefined && !options.quiet) await errors.writeLines(`Trace: ${outputFile}\n`);
  return pipelineExitCode(results, stop.signalName);
}

function printReport(
  kind: "json" | "junit" | "markdown",
  rows: readonly PipelineRow[],
  { result, path }: { readonly result: string; readonly path: string },
): Promise<void> {
  if (kind === "junit") return print(formatJunit(rows, path));
  return print(kind === "json" ? formatJson(rows, result) : formatMarkdown(rows));
}
