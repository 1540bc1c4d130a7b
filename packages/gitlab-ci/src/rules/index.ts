export { checkPatterns, conditionsOf } from "./decide-condition.ts";
export {
  decideJob,
  type DecidedBy,
  type DecideOptions,
  decidePipeline,
  type JobDecision,
  type PolicyOutcome,
  type RuleOutcome,
} from "./decide.ts";
export { explainDecision, type ExplainOptions } from "./explain-decision.ts";
export { evaluateIf, type IfContext, type IfExplanation, type IfResult, type IfValue } from "./if/evaluate-if.ts";
export { IfError } from "./if/if-error.ts";
export { type IfDoubt, type IfNode, parseIf, type ParsedIf } from "./if/parse-if.ts";
export {
  type CompiledPattern,
  type CompilePattern,
  loadPatterns,
  PatternError,
  type PatternParts,
} from "./if/patterns.ts";
export { createGlob, type Glob } from "./glob.ts";
export { createIncludeRules } from "./include-rules.ts";
export { createInputTools, type InputTools } from "./input-tools.ts";
export { readJobRules } from "./read-job-rules.ts";
export { readRules, type RuleOwner } from "./read-rules.ts";
export type { AllowFailure, Condition, JobRules, PathsCondition, Policy, Rule, When } from "./rule.ts";
export type { ConditionOutcome } from "./rule-context.ts";
export type { RuleCode, RuleReport } from "./rule-codes.ts";
export { type FilesOf, type Situation, SituationError } from "./situation.ts";
