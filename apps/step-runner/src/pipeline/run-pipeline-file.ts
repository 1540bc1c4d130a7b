import { UsageError } from "@steps/console";
import { errors, print, progressMode } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { createMasker } from "@steps/trace/mask";
import { dirname } from "node:path";
import { formatTable, pipelineExitCode, printReport, statusOf } from "@steps/pipeline-view";
import { absolute } from "../files/absolute.ts";
import { requireTerminal } from "../failure-shell/shell-flag.ts";
import { hideEnvironment } from "../environment/hide-environment.ts";
import { isWorkflow } from "../input/is-workflow.ts";
import { formatDot, formatMermaid } from "./print/format-graph.ts";
import { formatList, formatListJson, formatListMarkdown } from "./print/format-list.ts";
import { readCiPipeline } from "./gitlab/read-ci-pipeline.ts";
import type { LocalPipeline } from "./local-pipeline.ts";
import { maskedValues, openPipelineContext, recordSource } from "./pipeline-context.ts";
import type { PipelineOptions } from "./pipeline-flags.ts";
import { writePipelineTrace } from "../traces/write-trace.ts";

/** Runs the pipeline of a file, or shows it, as the options say. Gives the exit code. @throws {UsageError} */
export async function runPipelineFile(given: PipelineOptions, path: string): Promise<number> {
  const options = { ...given, quiet: progressMode(given) === "quiet" };
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
    const { projectOf } = await import("../input/read-workflow-job.ts");
    const { readWorkflow } = await import("./github/run-workflow.ts");
    const project = options.workDir ?? projectOf(path);
    return { project, read: () => Promise.resolve(readWorkflow(options, path, project)) };
  }
  return { project: options.workDir ?? absolute(dirname(path)), read: () => readCiPipeline(options, path) };
}

async function list(options: PipelineOptions, found: LocalPipeline): Promise<number> {
  const { report } = options;
  if (report === "junit") throw new UsageError("--report is junit", "A list of jobs is text, json or markdown.");
  const masker = createMasker();
  for (const value of [...maskedValues(options), ...(found.maskedValues ?? [])]) masker.add(value);
  const format = report === undefined ? formatList : report === "json" ? formatListJson : formatListMarkdown;
  await print(masker.text(format(await found.list())));
  return 0;
}

async function runAll(
  options: PipelineOptions,
  found: LocalPipeline,
  { path, project }: { readonly path: string; readonly project: string },
): Promise<number> {
  requireTerminal(options);
  hideEnvironment();
  const { outputFile } = options;
  const { language, graph, maskedValues: ofFiles } = found;
  const opened = { path, project, language, jobCount: graph.length, maskedValues: ofFiles };
  await using context = await openPipelineContext(options, opened);
  const { view, stop, recording } = context;
  for (const source of found.sources) recordSource(context, source);
  const results = await found.run(context);
  if (results === undefined) return COMMAND_EXITS.input.code;
  const summary = view.end();
  const status = statusOf(results);
  recording.finish(status);
  if (outputFile !== undefined) writePipelineTrace(outputFile, recording.trace());
  if (options.report !== undefined) await printReport(options.report, view.rows, { result: status, path });
  else if (!options.quiet) await errors.writeLines(`\n${formatTable(view.rows)}${summary}${view.explanations}`);
  if (outputFile !== undefined && !options.quiet) await errors.writeLines(`Trace: ${outputFile}\n`);
  return pipelineExitCode(results, stop.signalName);
}
