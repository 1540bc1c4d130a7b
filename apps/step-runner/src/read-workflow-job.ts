import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type CommandLine, UsageError } from "@steps/console";
import {
  compileWorkflowJob,
  type CompiledWorkflowJob,
  listWorkflowJobs,
  type WorkflowJob,
} from "@steps/github-actions";
import type { Source, SpecDefinition } from "@steps/model";
import { absolute } from "./absolute.ts";
import { showDiagnostics } from "./diagnose.ts";

/** A job of a workflow with where it runs. */
export interface LocalWorkflowJob {
  readonly specDefinition: SpecDefinition;
  readonly job: WorkflowJob;
  readonly positionOf: CompiledWorkflowJob["positionOf"];
  readonly workDir: string;
}

/** Reads the job of a GitHub workflow that the flags name, and shows what is wrong with it. `undefined` if it cannot run. */
export function readWorkflowJob(
  line: CommandLine,
  path: string,
  name: string | undefined = line.string("job-name"),
): LocalWorkflowJob | undefined {
  const source: Source = { name: path, text: readFileSync(path, "utf8") };
  const jobName = name ?? onlyJob(line, source);
  if (jobName === undefined) return undefined;
  const eventName = line.string("event-name");
  const compiled = compileWorkflowJob(source, {
    jobName,
    vars: line.pairs("variable"),
    ...(eventName === undefined ? {} : { eventName }),
  });
  showDiagnostics(line, compiled.diagnostics);
  const { specDefinition, job, positionOf } = compiled;
  if (specDefinition === undefined || job === undefined) return undefined;
  return { specDefinition, job, positionOf, workDir: absolute(line.string("work-dir") ?? projectOf(path)) };
}

/** Names of the jobs of a workflow, of a matrix that of its first instance: the steps of all are the same. */
export function workflowJobNames(line: CommandLine, path: string): string[] {
  const { jobs, diagnostics } = listWorkflowJobs({ name: path, text: readFileSync(path, "utf8") });
  if (jobs.length === 0) showDiagnostics(line, diagnostics);
  return jobs.map(({ id, instances }) => instances[0]?.name ?? id);
}

// A workflow lies in `.github/workflows`, and belongs to the folder above.
function projectOf(path: string): string {
  const folder = dirname(absolute(path));
  const isUsual = basename(folder) === "workflows" && basename(dirname(folder)) === ".github";
  return isUsual ? dirname(dirname(folder)) : folder;
}

function onlyJob(line: CommandLine, source: Source): string | undefined {
  const { jobs, diagnostics } = listWorkflowJobs(source);
  const names = jobs.flatMap(({ instances }) => instances.map(({ name }) => name));
  const [first] = names;
  if (first === undefined) {
    showDiagnostics(line, diagnostics);
    throw new UsageError(`"${source.name}" has no job`);
  }
  if (names.length === 1) return first;
  throw new UsageError(
    `"${source.name}" has ${names.length} jobs`,
    `Choose one with --job-name: ${names.slice(0, 20).join(", ")}`,
  );
}
