import { checkOptionNames, type OptionNames } from "@steps/model";
import { childOf, Report, type YamlMapping } from "@steps/source";
import type { CiDiagnostic, CiReport } from "./ci-rules.ts";
import { checkCoverage } from "./compile/coverage.ts";
import { jobFacts, withEnvironment } from "./job-facts.ts";
import { jobNamed, type LoadedJob, type LoadedPipeline } from "./load/loaded-pipeline.ts";
import { spanOf } from "./load/nodes.ts";
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

/** The options of `judgeJob()`. */
export interface JudgeJobOptions {
  readonly jobName: string;
  readonly situation: Situation;
  /** Gives the variables of every source but the files, for what is known of the job. */
  readonly sources: (job: JobFacts) => VariableSources;
}

/** The decision of the rules of a file about a job. */
export interface JudgedJob {
  /** The decision on the pipeline; `undefined` for a file without `workflow:rules`. */
  readonly workflow: JobDecision | undefined;
  readonly job: JobDecision;
  /** The sources with the variables of the rules that matched, for `compileJob()`. */
  readonly sources: VariableSources;
  /** The facts that the job tells of itself; predefined variables are made of them. */
  readonly facts: JobFacts;
}

/** The result of `judgeJob()`. */
export interface JudgeJobResult {
  /** `undefined` when there is no such job or its rules are wrong. */
  readonly judged: JudgedJob | undefined;
  /** The diagnostics about rules and conditions; `compileJob()` gives those about everything else. */
  readonly diagnostics: readonly CiDiagnostic[];
}

const OPTION_NAMES: OptionNames<JudgeJobOptions> = { jobName: true, situation: true, sources: true };

/** Decides whether the rules of a loaded pipeline let one of its jobs in. Throws only what the situation's functions throw. */
export async function judgeJob(pipeline: LoadedPipeline, options: JudgeJobOptions): Promise<JudgeJobResult> {
  checkOptionNames("judgeJob()", options, OPTION_NAMES);
  const job = jobNamed(pipeline, options.jobName);
  if (job === undefined) return { judged: undefined, diagnostics: [] };
  const report: CiReport = new Report();
  const workflow = readWorkflowRules(pipeline, report);
  const effective: YamlMapping = { kind: "mapping", entries: job.keywords, ...spanOf(job.key) };
  const rules = readJobRules(effective, { hasWorkflowRules: workflow !== undefined }, report);
  await checkPatterns([...conditionsOf({ rules: workflow }), ...conditionsOf(rules)], loadPatterns, report);
  await checkCoverage([job], report);
  const judged = report.hasErrors ? undefined : await judge({ pipeline, job, workflow, rules }, options);
  return { judged, diagnostics: report.finish() };
}

function readWorkflowRules({ workflow }: LoadedPipeline, report: CiReport): readonly Rule[] | undefined {
  const node = childOf(workflow, "rules");
  return node && readRules(node, "workflow", report);
}

interface ReadJob {
  readonly pipeline: LoadedPipeline;
  readonly job: LoadedJob;
  readonly workflow: readonly Rule[] | undefined;
  readonly rules: JobRules;
}

async function judge(
  { pipeline: { root }, job, workflow, rules }: ReadJob,
  { situation, sources: sourcesOf }: JudgeJobOptions,
): Promise<JudgedJob> {
  const facts = jobFacts(job, rules);
  const declared = readFileVariables(root, job);
  const plain = sourcesOf(facts);
  const ofPipeline = collectVariablesOfRules({ ...plain, global: declared.global });
  const pipeline =
    workflow === undefined ? undefined : await decidePipeline(workflow, { situation, variables: ofPipeline });
  const ofWorkflow = inherited(pipeline, job);
  const before = withEnvironment(facts, job, { ...plain, ...declared, workflow: ofWorkflow });
  const known = { ...sourcesOf(before), workflow: ofWorkflow };
  const decision = await decideJob(rules, { situation, variables: collectVariablesOfRules({ ...known, ...declared }) });
  const sources = { ...known, rule: decision.variables };
  const decided = withEnvironment(before, job, { ...sources, ...declared });
  return { workflow: pipeline, job: decision, sources, facts: decided };
}

function inherited(pipeline: JobDecision | undefined, job: LoadedJob): ReadonlyMap<string, Variable> {
  return new Map([...(pipeline?.variables ?? [])].filter(([name]) => job.inheritsVariable(name)));
}
