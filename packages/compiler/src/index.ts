export {
  type Diagnostic,
  type DiagnosticRule,
  encodeSpecDefinition,
  formatDiagnostic,
  hasErrors,
  type Position,
  type Source,
  type SpecDefinition,
} from "@steps/model";
export { readYaml, type ReadYamlOptions, type YamlDocuments } from "./read-yaml.ts";
export {
  childOf,
  describeNode,
  toValue,
  type YamlEntry,
  type YamlList,
  type YamlMapping,
  type YamlNode,
  type YamlScalar,
} from "./yaml-node.ts";
export { textPlace } from "./text-place.ts";
export type { Span } from "./span.ts";
export { compileInput, compilePrototext, compileRunNode, compileStepFile, compileStepList } from "./compile.ts";
export { type CompiledReference, compileReference } from "./compile-reference.ts";
export { type CompilerCode, COMPILER_RULES } from "./diagnostic-rules.ts";
export type { Compiled, CompileOptions } from "./context.ts";
export type { JsonSchema, JsonSchemaValue } from "./keys/key-table.ts";
export { SCHEMA_KINDS, type SchemaKind, schemaOf } from "./schema/schema-of.ts";
export { patternProblem, type PatternProblem } from "./match-pattern.ts";
export {
  MAX_ALIAS_NODES,
  MAX_DEPTH,
  MAX_DIAGNOSTICS,
  MAX_DOCUMENTS,
  MAX_MATCH_LENGTH,
  MAX_TEXT_LENGTH,
} from "./limits.ts";
