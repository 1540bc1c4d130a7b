export { toCiText, toCiValue } from "./ci-value.ts";
export type {
  ComponentFacts,
  ConditionScope,
  Eventually,
  FileContext,
  FileRequest,
  IncludeRules,
  InputCondition,
  ListFiles,
  ListRequest,
  LoadedFile,
  LoadFailure,
  LoadFile,
  MatchPattern,
  PatternVerdict,
} from "./load-file.ts";
export {
  loadPipeline,
  loadPipelineNow,
  type LoadPipelineOptions,
  type LoadPipelineResult,
  sortDiagnostics,
} from "./load-pipeline.ts";
export {
  type JobInstance,
  jobNamed,
  keywordPosition,
  keywordValue,
  type LoadedJob,
  type LoadedPipeline,
} from "./loaded-pipeline.ts";
