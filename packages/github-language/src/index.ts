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
export { parseShell, type ShellTemplate } from "./shell/parse-shell.ts";
export { ShellError } from "./shell/shell-error.ts";
