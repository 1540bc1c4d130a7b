export { CI_RULES, type CiCode, type CiReport } from "./ci-rules.ts";
export { judgeJob, type JudgedJob, type JudgeJobOptions, type JudgeJobResult } from "./judge-job.ts";
export {
  type JudgedPipeline,
  type JudgedPipelineJob,
  judgePipeline,
  type JudgePipelineOptions,
  type JudgePipelineResult,
} from "./judge-pipeline.ts";
export { listJobs } from "./list-jobs.ts";
export { toCiText, toCiValue } from "./load/ci-value.ts";
export type { InputCondition, InputTools, MatchPattern } from "./load/inputs/resolve-inputs.ts";
export type {
  ComponentFacts,
  ConditionScope,
  Eventually,
  FileContext,
  FileRequest,
  IncludeRules,
  ListFiles,
  ListRequest,
  LoadedFile,
  LoadFailure,
  LoadFile,
} from "./load/load-file.ts";
export {
  loadPipeline,
  loadPipelineNow,
  type LoadPipelineOptions,
  type LoadPipelineResult,
} from "./load/load-pipeline.ts";
export {
  type JobInstance,
  keywordPosition,
  keywordValue,
  type LoadedJob,
  type LoadedPipeline,
} from "./load/loaded-pipeline.ts";
export type { PlannedJob } from "./pipeline/decide-start.ts";
export { type PlannedPipeline, planPipeline, type PlanPipelineOptions } from "./pipeline/plan-pipeline.ts";
export { readDuration } from "./pipeline/read-duration.ts";
export { type Need } from "./pipeline/read-needs.ts";
export { isGate } from "./pipeline/stage-gates.ts";
export {
  checkJobs,
  type TranslatedJob,
  translateJob,
  type TranslateJobOptions,
  type TranslateJobResult,
} from "./translate-job.ts";
export { checkPatterns, conditionsOf } from "./rules/decide-condition.ts";
export {
  decideJob,
  type DecidedBy,
  type DecideOptions,
  decidePipeline,
  type JobDecision,
  type PolicyOutcome,
  type RuleOutcome,
} from "./rules/decide.ts";
export { explainDecision, type ExplainOptions } from "./rules/explain-decision.ts";
export { evaluateIf, type IfContext, type IfExplanation, type IfResult, type IfValue } from "./rules/if/evaluate-if.ts";
export { IfError } from "./rules/if/if-error.ts";
export { type IfDoubt, type IfNode, parseIf, type ParsedIf } from "./rules/if/parse-if.ts";
export { type CompiledPattern, type CompilePattern, loadPatterns, PatternError } from "./rules/if/patterns.ts";
export { createGlob, type Glob } from "./rules/glob.ts";
export { createIncludeRules } from "./rules/include-rules.ts";
export { readJobRules } from "./rules/read-job-rules.ts";
export { readRules, type RuleOwner } from "./rules/read-rules.ts";
export type { AllowFailure, Condition, JobRules, PathsCondition, Policy, Rule, When } from "./rules/rule.ts";
export type { ConditionOutcome } from "./rules/rule-context.ts";
export type { RuleCode, RuleReport } from "./rules/rule-codes.ts";
export { type FilesOf, type Situation, SituationError } from "./rules/situation.ts";
export {
  type CollectedVariable,
  type CollectedVariables,
  collectVariables,
  collectVariablesOfRules,
  plainVariables,
  type Variable,
  VARIABLE_SOURCES,
  type VariableSource,
  type VariableSources,
} from "./variables/collect-variables.ts";
export { expandKeyword, KEYWORD_EXPANSIONS, type KeywordExpansion } from "./variables/expand-keyword.ts";
export { type ExpandedVariables, expandVariables, type RawVariable } from "./variables/expand-variables.ts";
export type {
  CommitFacts,
  EnvironmentFacts,
  JobFacts,
  MergeRequestFacts,
  PipelineFacts,
  ProjectFacts,
  RunFacts,
  RunnerFacts,
  UserFacts,
} from "./variables/predefined/facts.ts";
export {
  type PredefinedOptions,
  type PredefinedSources,
  predefinedVariables,
} from "./variables/predefined/predefined-variables.ts";
export { readRemote, type Remote } from "./variables/predefined/remote.ts";
export { type DeclaredVariable, readVariables, type VariableReport } from "./variables/read-variables.ts";
export { environmentSlug, jobGroupName, type Sha256, slugify } from "./variables/slugs.ts";
