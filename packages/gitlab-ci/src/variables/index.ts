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
} from "./collect-variables.ts";
export { expandKeyword, KEYWORD_EXPANSIONS, type KeywordExpansion } from "./expand-keyword.ts";
export { type ExpandedVariables, expandVariables, type RawVariable } from "./expand-variables.ts";
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
} from "./predefined/facts.ts";
export {
  type PredefinedOptions,
  type PredefinedSources,
  predefinedVariables,
} from "./predefined/predefined-variables.ts";
export { readRemote, type Remote } from "./predefined/remote.ts";
export { type DeclaredVariable, readVariables, type VariableReport } from "./read-variables.ts";
export { environmentSlug, jobGroupName, type Sha256, slugify } from "./slugs.ts";
