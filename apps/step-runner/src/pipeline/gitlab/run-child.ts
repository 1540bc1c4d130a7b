import { setImmediate } from "node:timers/promises";
import { type ForeignNeed, type PlannedPipeline, planPipeline, readForeignNeeds } from "@steps/gitlab-ci/pipeline";
import type { Variable, VariableSource } from "@steps/gitlab-ci/variables";
import { collectVariables, expandVariables, predefinedVariables } from "@steps/gitlab-ci/variables";
import { type Diagnostic, formatDiagnostic, type Source } from "@steps/model/diagnostic";
import type { Value } from "@steps/model";
import type { JobResult, JobResults } from "@steps/pipeline";
import { sha256 } from "@steps/platform";
import { spanPosition } from "@steps/source";
import { pipelineExitCode, SEPARATOR, statusOf } from "@steps/pipeline-view";
import { loadSource } from "../../input/load-source.ts";
import { recordSource } from "../pipeline-context.ts";
import { type CiContext, type CiPipeline, type TriggerJob, withName } from "./ci-pipeline.ts";
import { dotenvVariables } from "./dotenv-variables.ts";
import { tellForeignNeeds } from "./foreign-artifacts.ts";
import { artifactReader } from "./generated-file.ts";
import type { CiJobs } from "./run-ci-jobs.ts";

/** GitLab's limit: a child may have children, and these none. */
const MAX_DEPTH = 2;

/** A job that starts a child pipeline, with what runs the jobs of that. */
export interface ChildJob {
  readonly ci: CiPipeline;
  readonly work: TriggerJob;
  readonly run: (context: CiContext, jobs: CiJobs, signal: AbortSignal) => Promise<JobResults>;
}

/**
 * Starts a child pipeline. The job has its result with `strategy: depend`; otherwise it succeeds as soon as the child is made,
 * which then runs beside the others and changes nothing for them.
 */
export async function startChild(
  context: CiContext,
  { ci, work, run }: ChildJob,
  signal: AbortSignal,
): Promise<JobResult> {
  const child = await planChild(context, ci, work);
  if ("status" in child) return { ...child, isAllowedToFail: work.terms.allowFailure === true };
  const jobs: CiJobs = { ci: child, jobs: child.planned.jobs };
  if (!work.trigger.isDepending) {
    // The job that starts it ends first.
    const running = setImmediate().then(() => run(context, jobs, signal));
    // An error of it is thrown when the run waits for it.
    running.catch(() => undefined);
    context.background.push(running);
    return { status: "success" };
  }
  const results = await run(context, jobs, signal);
  const status = statusOf(results);
  if (status === "success") return { status };
  if (status === "cancelled") return { status, reason: "The child pipeline was cancelled" };
  const exitCode = pipelineExitCode(results, undefined);
  return {
    status,
    reason: "A job of it failed",
    exitCode,
    isAllowedToFail: work.terms.allowFailure === true,
  };
}

async function planChild(context: CiContext, ci: CiPipeline, work: TriggerJob): Promise<CiPipeline | JobResult> {
  const { situation, facts, given, originUrl, file, path, depth } = ci;
  const { options, project } = context;
  const { job } = work;
  const fail = (reason: string): JobResult => ({ status: "failure", reason });
  if (depth >= MAX_DEPTH) return fail(`Child pipelines are at most ${MAX_DEPTH} deep`);
  const variables = childVariables(work, given, await dotenvVariables(context, ci, work));
  const source = { name: `${file} (${job.name})`, text: JSON.stringify({ include: includesOf(work) }) };
  const ofChild = { ...facts, run: { ...facts.run, name: undefined, source: "parent_pipeline" } };
  const inChild = { ...situation, source: "parent_pipeline" };
  const overrides = Object.fromEntries([...variables].map(([name, { value }]) => [name, value]));
  const local = { situation: inChild, pipeline: ofChild, given: variables, overrides, originUrl };
  const { pipeline: loaded, diagnostics } = await loadSource(options, source, {
    workDir: project,
    predefined: {},
    local,
    readArtifact: artifactReader(context, ci),
  });
  const planned =
    loaded &&
    (await planPipeline(loaded, {
      situation: inChild,
      sources: (one) => ({ ...predefinedVariables({ pipeline: ofChild, job: one, sha256 }), pipeline: variables }),
      hasDelays: options.delay,
      isStarted: ({ name }) => options.start.includes(`${path}${job.name}${SEPARATOR}${name}`),
    }));
  const error = [...diagnostics, ...(planned?.diagnostics ?? [])].find(({ severity }) => severity === "error");
  if (error !== undefined) return fail(formatDiagnostic(atTrigger(error, source, work)));
  if (loaded === undefined || planned === undefined) return fail("The child pipeline cannot be read");
  if (planned.jobs.length === 0) return fail("No job is in the child pipeline");
  // The first is the list of includes, which stands in no file.
  for (const included of loaded.sources.slice(1)) recordSource(context, included);
  if (!options.quiet) tellForeignNeeds(options, foreignNeedsOfChild(planned));
  const name = `${path}${job.name}${SEPARATOR}`;
  const inner = { file, path: name, depth: depth + 1, originUrl, parent: ci };
  return { loaded, planned, situation: inChild, facts: withName(ofChild, planned.name), given: variables, ...inner };
}

// Those of the pipelines around it are here.
function foreignNeedsOfChild({ judged, jobs }: PlannedPipeline): readonly ForeignNeed[] {
  const needs = jobs.flatMap(({ id }) => readForeignNeeds(judged?.jobs.get(id)?.decision.needs));
  return needs.filter(({ project }) => project !== undefined);
}

// The list of includes stands in no file, but in the job that has it.
function atTrigger(error: Diagnostic, list: Source, { job }: TriggerJob): Diagnostic {
  if (error.position?.source !== list) return error;
  return { ...error, position: spanPosition(job.own.get("trigger")?.value ?? job.key) };
}

function includesOf({ trigger: { include, inputs } }: TriggerJob): Value {
  if (inputs === undefined) return [...include];
  return include.map((item): Value => {
    if (typeof item === "string") return { local: item, inputs };
    return typeof item === "object" && item !== null && !Array.isArray(item) ? { ...item, inputs } : item;
  });
}

const SOURCES_OF_JOB: readonly VariableSource[] = ["global", "workflow", "job", "matrix", "rule"];

// The parent expands the values that it hands on; a dollar that is left in one of them is a dollar in the child.
function childVariables(
  { sources, trigger }: TriggerJob,
  given: ReadonlyMap<string, Variable>,
  dotenv: ReadonlyMap<string, Variable>,
): ReadonlyMap<string, Variable> {
  const variables = new Map<string, Variable>();
  if (trigger.forwardsJobVariables) {
    const collected = collectVariables({ ...sources, dotenv });
    const { values } = expandVariables(collected);
    const names = SOURCES_OF_JOB.flatMap((source) => [...(sources[source]?.keys() ?? [])]);
    for (const name of names) variables.set(name, { ...collected.get(name), value: values[name] ?? "", isRaw: true });
  }
  if (trigger.forwardsPipelineVariables) for (const [name, variable] of given) variables.set(name, variable);
  return variables;
}
