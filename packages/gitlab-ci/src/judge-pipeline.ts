import { checkOptionNames, type OptionNames } from "@steps/model";
import { childOf, Report, type YamlMapping, type YamlNode } from "@steps/source";
import type { CiDiagnostic, CiReport } from "./ci-rules.ts";
import { checkCoverage, readCoverage } from "./compile/coverage.ts";
import { jobFacts, withEnvironment } from "./job-facts.ts";
import type { LoadedJob, LoadedPipeline } from "./load/loaded-pipeline.ts";
import { sortDiagnostics } from "./load/load-pipeline.ts";
import { readPsychScalar } from "./psych.ts";
import { checkPatterns, conditionsOf } from "./rules/decide-condition.ts";
import { decideJob, decidePipeline, type JobDecision } from "./rules/decide.ts";
import { loadPatterns } from "./rules/if/patterns.ts";
import { readJobRules } from "./rules/read-job-rules.ts";
import { readRules } from "./rules/read-rules.ts";
import type { JobRules, Rule } from "./rules/rule.ts";
import type { Situation } from "./rules/situation.ts";
import { collectVariablesOfRules, type Variable, type VariableSources } from "./variables/collect-variables.ts";
import type { JobFacts } from "./variables/predefined/facts.ts";
import { readVariables } from "./variables/read-variables.ts";

/** The options of `judgePipeline()`. */
export interface JudgePipelineOptions {
  readonly situation: Situation;
  /** Gives the variables of every source but the files: for a job, or without one for the rules of the workflow. */
  readonly sources: (job?: JobFacts) => VariableSources;
}

/** The decision of the rules about one job of a loaded pipeline. */
export interface JudgedPipelineJob {
  readonly job: LoadedJob;
  /** The facts that the job tells of itself; predefined variables are made of them. */
  readonly facts: JobFacts;
  readonly decision: JobDecision;
  /** Its variables by source, with those of the rules that matched; `collectVariables()` puts them together. */
  readonly sources: VariableSources;
}

/** A pipeline whose rules were decided: whether it runs, and which of its jobs are in it. */
export interface JudgedPipeline {
  /** The decision on the pipeline; `undefined` without `workflow:rules`. */
  readonly workflow: JobDecision | undefined;
  /** All jobs by their names, in the order of the configuration, also those that are not in the pipeline. */
  readonly jobs: ReadonlyMap<string, JudgedPipelineJob>;
}

/** The result of `judgePipeline()`. */
export interface JudgePipelineResult {
  /** `undefined` when there are errors. */
  readonly judged: JudgedPipeline | undefined;
  /** The diagnostics about rules, conditions and variables. */
  readonly diagnostics: readonly CiDiagnostic[];
}

const OPTION_NAMES: OptionNames<JudgePipelineOptions> = { situation: true, sources: true };

/** Decides which jobs of a loaded pipeline are in it. Throws only what the situation's functions throw. */
export async function judgePipeline(
  pipeline: LoadedPipeline,
  options: JudgePipelineOptions,
): Promise<JudgePipelineResult> {
  checkOptionNames("judgePipeline()", options, OPTION_NAMES);
  const report: CiReport = new Report();
  const read = await readChecked(pipeline, report);
  const judged = report.hasErrors ? undefined : await judge(read, options);
  return { judged, diagnostics: report.finish() };
}

/**
 * Says what is wrong with the rules, the conditions and the patterns of a pipeline, or of the part of it that could be read, in
 * whatever situation; `checkJobs()` says what is wrong with everything else.
 */
export async function checkRules(pipeline: LoadedPipeline): Promise<readonly CiDiagnostic[]> {
  const report: CiReport = new Report();
  await readChecked(pipeline, report);
  return sortDiagnostics(report.finish(), pipeline.sources);
}

async function readChecked(pipeline: LoadedPipeline, report: CiReport): Promise<ReadPipeline> {
  const read = readPipeline(pipeline, report);
  const conditions = [...read.groups.values()].flatMap(({ rules }) => conditionsOf(rules));
  await checkPatterns([...conditionsOf({ rules: read.workflow }), ...conditions], loadPatterns, report);
  // The instances of a job share what they say.
  const jobs = [...read.groups.values()].flatMap((group) => group.jobs.slice(0, 1));
  for (const { keywords } of jobs) readCoverage(keywords.get("coverage")?.value, report);
  await checkCoverage(jobs, report);
  return read;
}

type Variables = ReadonlyMap<string, Variable>;

interface ReadGroup {
  readonly jobs: readonly LoadedJob[];
  readonly rules: JobRules;
  readonly variables: Variables;
}

interface ReadPipeline {
  readonly workflow: readonly Rule[] | undefined;
  readonly global: Variables;
  readonly names: readonly string[];
  readonly groups: ReadonlyMap<string, ReadGroup>;
}

// The instances of a job share what they say, so it is read and complained about once.
function readPipeline({ jobs, groups, variables, workflow }: LoadedPipeline, report: CiReport): ReadPipeline {
  const node = childOf(workflow, "rules");
  const rules = node && readRules(node, "workflow", report);
  const hasWorkflowRules = rules !== undefined;
  const readGroup = ([name, instances]: readonly [string, readonly LoadedJob[]]): readonly [string, ReadGroup][] => {
    const [first] = instances;
    if (first === undefined) return [];
    const { kind: _, ...place } = first.key;
    const mapping: YamlMapping = { ...place, kind: "mapping", entries: first.keywords };
    return [
      [
        name,
        {
          jobs: instances,
          rules: readJobRules(mapping, { hasWorkflowRules }, report),
          variables: readVariables(first.keywords.get("variables")?.value, "job", report),
        },
      ],
    ];
  };
  return {
    workflow: rules,
    global: readVariables(variables, "global", report),
    names: [...jobs.keys()],
    groups: new Map([...groups].flatMap(readGroup)),
  };
}

async function judge(
  { workflow, global, names, groups }: ReadPipeline,
  { situation, sources }: JudgePipelineOptions,
): Promise<JudgedPipeline> {
  const seen = workflow && collectVariablesOfRules({ ...sources(), global });
  const pipeline = seen && (await decidePipeline(workflow, { situation, variables: seen }));
  const found = new Map<string, JudgedPipelineJob>();
  for (const { jobs, rules, variables } of groups.values()) {
    for (const job of jobs) {
      const facts = jobFacts(job, rules);
      const ofFiles: VariableSources = {
        global: inherited(global, job),
        workflow: inherited(pipeline?.variables ?? new Map(), job),
        job: variables,
        matrix: matrixOf(job),
      };
      const before = withEnvironment(facts, job, { ...sources(facts), ...ofFiles });
      const known = { ...sources(before), ...ofFiles };
      const decision = await decideJob(rules, { situation, variables: collectVariablesOfRules(known) });
      const decided = { ...known, rule: decision.variables };
      found.set(job.name, { job, facts: withEnvironment(before, job, decided), decision, sources: decided });
    }
  }
  const ordered = names.flatMap((name) => {
    const job = found.get(name);
    return job === undefined ? [] : [[name, job] as const];
  });
  return { workflow: pipeline, jobs: new Map(ordered) };
}

function inherited(variables: Variables, { inheritsVariable }: LoadedJob): Variables {
  return new Map([...variables].filter(([name]) => inheritsVariable(name)));
}

function matrixOf({ instance }: LoadedJob): Variables {
  const entries = [...(instance?.variables ?? [])];
  return new Map(entries.map(([name, node]) => [name, { value: textOf(node), isRaw: false, node }]));
}

function textOf(node: YamlNode): string {
  return node.kind === "scalar" ? readPsychScalar(node).text : "";
}
