import type { Diagnostic, Source } from "@steps/model";
import { childOf, Report, type YamlMapping } from "@steps/source";
import { type CiFile, readCiFile } from "./ci-file.ts";
import type { CiReport } from "./ci-rules.ts";
import { type EffectiveJob, readEffectiveJob } from "./effective-job.ts";
import { checkPatterns, conditionsOf } from "./rules/decide-condition.ts";
import { decideJob, decidePipeline, type JobDecision } from "./rules/decide.ts";
import { loadPatterns } from "./rules/if/patterns.ts";
import { readJobRules } from "./rules/read-job-rules.ts";
import { readRules } from "./rules/read-rules.ts";
import type { JobRules, Rule } from "./rules/rule.ts";
import type { Situation } from "./rules/situation.ts";
import { collectVariablesOfRules, type Variable, type VariableSources } from "./variables/collect-variables.ts";
import { readFileVariables } from "./variables/job-variables.ts";
import type { JobFacts } from "./variables/predefined/facts.ts";

export interface JudgeJobOptions {
  readonly jobName: string;
  readonly situation: Situation;
  /** Gives the variables of every source but the files, for what is known of the job. */
  readonly sources: (job: JobFacts) => VariableSources;
}

/** What the rules of a file say of a job. */
export interface JudgedJob {
  /** The decision on the pipeline; `undefined` for a file without `workflow:rules`. */
  readonly workflow: JobDecision | undefined;
  readonly job: JobDecision;
  /** The sources with the variables of the rules that matched, for `translateJob()`. */
  readonly sources: VariableSources;
  /** What the job says of itself, from which predefined variables are made. */
  readonly facts: JobFacts;
}

export interface JudgeJobResult {
  /** `undefined` when the job cannot be read or its rules are wrong. */
  readonly judged: JudgedJob | undefined;
  /** What is to be said about rules and conditions; the rest is what `translateJob()` says. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Decides whether the rules of a `.gitlab-ci.yml` let one of its jobs in. Throws only what the situation's functions throw. */
export async function judgeJob(source: Source, options: JudgeJobOptions): Promise<JudgeJobResult> {
  // What is wrong with the rest of the file is said by whoever translates the job.
  const rest: CiReport = new Report();
  const file = readCiFile(source, rest);
  const entry = file?.jobs.get(options.jobName);
  const job = file === undefined || entry === undefined ? undefined : readEffectiveJob(options.jobName, file, rest);
  if (file === undefined || job === undefined || entry?.value.kind !== "mapping") {
    return { judged: undefined, diagnostics: [] };
  }
  const report: CiReport = new Report();
  const workflow = readWorkflowRules(file, report);
  const effective: YamlMapping = { ...entry.value, entries: job.keywords };
  const rules = readJobRules(effective, { hasWorkflowRules: workflow !== undefined }, report);
  await checkPatterns([...conditionsOf({ rules: workflow }), ...conditionsOf(rules)], loadPatterns, report);
  const judged = report.hasErrors ? undefined : await judge({ file, job, workflow, rules }, options);
  return { judged, diagnostics: report.finish() };
}

function readWorkflowRules(file: CiFile, report: CiReport): readonly Rule[] | undefined {
  const node = childOf(file.root.entries.get("workflow")?.value, "rules");
  return node && readRules(node, "workflow", report);
}

interface ReadJob {
  readonly file: CiFile;
  readonly job: EffectiveJob;
  readonly workflow: readonly Rule[] | undefined;
  readonly rules: JobRules;
}

async function judge(
  { file, job, workflow, rules }: ReadJob,
  { situation, sources: sourcesOf }: JudgeJobOptions,
): Promise<JudgedJob> {
  const facts = { name: job.name, stage: stageOf(job), isManual: rules.when === "manual" };
  const sources = sourcesOf(facts);
  const declared = readFileVariables(file, job, new Report());
  const ofPipeline = collectVariablesOfRules({ ...sources, global: declared.global });
  const pipeline =
    workflow === undefined ? undefined : await decidePipeline(workflow, { situation, variables: ofPipeline });
  const known = { ...sources, workflow: inherited(pipeline, job) };
  const ofJob = collectVariablesOfRules({ ...known, ...declared });
  const decision = await decideJob(rules, { situation, variables: ofJob });
  return { workflow: pipeline, job: decision, sources: { ...known, rule: decision.variables }, facts };
}

/** GitLab's own default. */
const DEFAULT_STAGE = "test";

function stageOf({ own }: EffectiveJob): string {
  const node = own.get("stage")?.value;
  return node?.kind === "scalar" && node.text !== "" ? node.text : DEFAULT_STAGE;
}

function inherited(pipeline: JobDecision | undefined, job: EffectiveJob): ReadonlyMap<string, Variable> {
  return new Map([...(pipeline?.variables ?? [])].filter(([name]) => job.inheritsVariable(name)));
}
