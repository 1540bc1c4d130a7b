// The words of an action's process to the runner, in its output and in files. They are a subpath of their own, since they work on
// Node's buffers.
export { type Annotation, ANNOTATION_MAX_LENGTH, type AnnotationLevel, ANNOTATIONS_PER_LEVEL } from "./annotation.ts";
export { FileCommandError, HashPatternError, ProblemMatcherError } from "./command-error.ts";
export {
  encodeKeyValue,
  FILE_COMMAND_PREFIXES,
  isBlockedVariable,
  parseKeyValues,
  parsePathLines,
  SUMMARY_MAX_BYTES,
} from "./file-command.ts";
export type { GroupStyle } from "./group-marks.ts";
export { compileHashPatterns, type HashPatterns } from "./hash-patterns.ts";
export { type CommandSink, createInterpreter, type Interpreter, type InterpreterOptions } from "./interpreter.ts";
export { maskForms } from "./mask-forms.ts";
export { createOutputFilter, MAX_COMMAND_BYTES, type OutputFilter } from "./output-filter.ts";
export { type MatchScan, ProblemMatchers } from "./problem-matchers.ts";
