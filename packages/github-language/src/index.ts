export {
  type Annotation,
  ANNOTATION_MAX_LENGTH,
  type AnnotationLevel,
  ANNOTATIONS_PER_LEVEL,
} from "./commands/annotation.ts";
export { FileCommandError, HashPatternError, ProblemMatcherError, ShellError } from "./commands/command-error.ts";
export {
  encodeKeyValue,
  FILE_COMMAND_PREFIXES,
  isBlockedVariable,
  parseKeyValues,
  parsePathLines,
  SUMMARY_MAX_BYTES,
} from "./commands/file-command.ts";
export type { GroupStyle } from "./commands/group-marks.ts";
export { compileHashPatterns, type HashPatterns } from "./commands/hash-patterns.ts";
export {
  type CommandSink,
  createInterpreter,
  type Interpreter,
  type InterpreterOptions,
} from "./commands/interpreter.ts";
export { maskForms } from "./commands/mask-forms.ts";
export { createOutputFilter, MAX_COMMAND_BYTES, type OutputFilter } from "./commands/output-filter.ts";
export { parseShell, type ShellTemplate } from "./commands/parse-shell.ts";
export { type MatchScan, ProblemMatchers } from "./commands/problem-matchers.ts";
export { type AvailableNames, checkCondition, checkTemplate, type ExpressionProblem } from "./expressions/check.ts";
export { type ConditionResult, evaluateCondition } from "./expressions/condition.ts";
export { CONTEXTS_OF, type ExpressionPlace } from "./expressions/contexts-of.ts";
export {
  GithubExpressionError,
  type GithubExpressionErrorCode,
  type GithubExpressionErrorOptions,
  type GithubExpressionSyntaxErrorCode,
  type GithubExpressionValueErrorCode,
} from "./expressions/error.ts";
export { evaluateTemplate, evaluateText, toText } from "./expressions/evaluate.ts";
export type { Contexts, EvaluateOptions, StatusFacts } from "./expressions/evaluation.ts";
export { expressionLimits } from "./expressions/limits.ts";
export { CONTEXT_NAMES, STATUS_FUNCTIONS } from "./expressions/names.ts";
export { hasExpression } from "./expressions/template.ts";
