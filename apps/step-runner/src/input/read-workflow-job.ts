import { basename, dirname } from "node:path";
import { UsageError } from "@steps/console";
import {
  compileWorkflowJob,
  type CompiledWorkflowJob,
  listWorkflowJobs,
  type WorkflowJob,
  type WorkflowOptions,
} from "@steps/github-compiler";
import { describeJob, type GithubOptions } from "@steps/engine/github";
import type { Value } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";
import type { Diagnostic, Source } from "@steps/model/diagnostic";
import { absolute } from "../files/absolute.ts";
import { type MaskOptions, showDiagnostics } from "./diagnose.ts";
import { readSource } from "../files/read-source.ts";
import { givenVariables, readInputs } from "./given-variables.ts";
import type { CiFileOptions } from "./load-ci-file.ts";
import { type GithubFlagOptions, githubOptions } from "../flags/github-flags.ts";
import { localVariables } from "../situation/local-variables.ts";

/** A job of a workflow with where it runs. */
export interface LocalWorkflowJob {
  readonly specDefinition: SpecDefinition;
  readonly job: WorkflowJob;
  readonly positionOf: CompiledWorkflowJob["positionOf"];
  readonly workDir: string;
  /** Job variables that the user did not give. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The options of a command that say something about a job of a workflow. */
export type ReadWorkflowOptions = CiFileOptions & Partial<GithubFlagOptions>;

/** Reads the job of a GitHub workflow that the flags name, and shows what is wrong with it. `undefined` if it cannot run. */
export function readWorkflowJob(
  options: ReadWorkflowOptions,
  path: string,
  { name = options.jobName, jobDir }: { readonly name?: string; readonly jobDir?: string } = {},
): LocalWorkflowJob | undefined {
  const source: Source = readSource(path);
  const jobName = name ?? onlyJob(options, source);
  if (jobName === undefined) return undefined;
  const workDir = options.workDir ?? projectOf(path);
  const { variables, ...facts } = workflowFacts(options, source, workDir);
  const github = { ...facts.github, workspace: jobDir ?? workDir };
  const compiled = compileWorkflowJob(source, { ...facts, github, jobName });
  showDiagnostics(options, compiled.diagnostics.map(said));
  const { specDefinition, job, positionOf } = compiled;
  if (specDefinition === undefined || job === undefined) return undefined;
  return { specDefinition, job, positionOf, workDir: jobDir ?? workDir, variables };
}

/** The facts of a run of a workflow on this machine, and the job variables that the user did not give. */
export interface WorkflowFacts extends Required<Pick<WorkflowOptions, "vars" | "github" | "inputs">> {
  /** Absent when nobody said which event it is. */
  readonly eventName: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

/** Finds out the facts that the jobs of a workflow are compiled with. @param workDir the folder that the project is in: absolute */
export function workflowFacts(
  options: Omit<ReadWorkflowOptions, "jobName">,
  source: Source,
  workDir: string,
): WorkflowFacts {
  const vars = givenVariables(options);
  const github = githubOptions(options);
  const given = readInputs(options.input);
  const { name = "", events } = listWorkflowJobs(source);
  // A workflow that is called has the variables, and with them the contexts, of the outermost one.
  const variables = { ...localVariables(workDir), CI_PIPELINE_NAME: name, CI_CONFIG_PATH: source.name };
  // A replay learns of the event through the variables of the job.
  if (isDispatched(options, events, github)) Object.assign(variables, { CI_PIPELINE_SOURCE: "web" });
  const known: Readonly<Record<string, string>> = { ...variables, ...vars };
  const contexts = describeJob(github, { workspace: workDir, variable: (wanted) => known[wanted], inputs: given });
  const told = textOf(contexts.github["event_name"]);
  // Nobody said that it is a push, so inputs have their defaults.
  const eventName = options.eventName ?? (told === "push" ? undefined : told);
  return { vars, github: contexts.github, inputs: { ...inputsOf(contexts.event), ...given }, eventName, variables };
}

// Whoever runs a job has to know what it runs without.
function said(diagnostic: Diagnostic): Diagnostic {
  return diagnostic.code === "unknown-needs" ? { ...diagnostic, severity: "warning" } : diagnostic;
}

// Whoever gives inputs, or runs by hand what no push starts, dispatches it.
function isDispatched(
  { input }: Pick<ReadWorkflowOptions, "input">,
  events: readonly string[],
  github: GithubOptions,
): boolean {
  if (github.eventName !== undefined) return false;
  const isByHand = input.length > 0 || (github.event === undefined && !events.includes("push"));
  return isByHand && events.includes("workflow_dispatch");
}

function inputsOf(event: Value): Record<string, Value> {
  const { inputs } = event as { readonly inputs?: Value };
  return typeof inputs === "object" && inputs !== null && !Array.isArray(inputs) ? { ...inputs } : {};
}

function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}

// A workflow lies in `.github/workflows`, and belongs to the folder above.
export function projectOf(path: string): string {
  const folder = dirname(absolute(path));
  const isUsual = basename(folder) === "workflows" && basename(dirname(folder)) === ".github";
  return isUsual ? dirname(dirname(folder)) : folder;
}

function onlyJob(options: MaskOptions, source: Source): string | undefined {
  const { jobs, diagnostics } = listWorkflowJobs(source);
  const names = jobs.flatMap(({ instances }) => instances.map(({ choice }) => choice));
  const [first] = names;
  if (first === undefined) {
    showDiagnostics(options, diagnostics);
    throw new UsageError(`"${source.name}" has no job`);
  }
  if (names.length === 1) return first;
  throw new UsageError(
    `"${source.name}" has ${names.length} jobs`,
    `Choose one with --job-name: ${names.slice(0, 20).join(", ")}`,
  );
}
