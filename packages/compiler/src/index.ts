export { encodeSpecDefinition } from "@steps/model/baseline";
export type { SpecDefinition } from "@steps/model/definition";
export {
  type Diagnostic,
  type DiagnosticRule,
  formatDiagnostic,
  hasErrors,
  type Position,
  type Source,
} from "@steps/model/diagnostic";
export { compileInput, compilePrototext, compileRunNode, compileStepFile, compileStepList } from "./compile.ts";
export { type CompiledReference, compileReference } from "./reference/compile-reference.ts";
export { type CompilerCode, COMPILER_RULES } from "./diagnostic-rules.ts";
export type { Compiled, CompileOptions } from "./context.ts";
export { SCHEMA_KINDS, type SchemaKind, schemaOf } from "./schema/schema-of.ts";
export { patternProblem, type PatternProblem } from "./spec/match-pattern.ts";
export { writeStepFile } from "./write/write-step-file.ts";
