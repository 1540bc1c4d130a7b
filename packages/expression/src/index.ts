export { ExpressionError, type ExpressionErrorCode, type Place } from "./error.ts";
export type { EvaluateOptions, ExpressionNote } from "./evaluate.ts";
export { expand, expandText, expandValue } from "./expand.ts";
export {
  argumentError,
  type CallContext,
  type ExpressionFunction,
  type FunctionTable,
  stringArgument,
} from "./function.ts";
export { defaultFunctions } from "./functions.ts";
export { limits } from "./limits.ts";
export { findMismatches, type KindMismatch } from "./find-mismatches.ts";
export { escapeTemplate, hasExpression } from "./read-template.ts";
export { createScope, type Scope } from "./scope.ts";
export { checkTemplate, parseTemplate, type Template } from "./template.ts";
