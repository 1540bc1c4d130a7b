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
export { type Span, spanPosition } from "./span.ts";
export { textPlace } from "./text-place.ts";
export { nodeIn, type Places, positionIn } from "./places.ts";
export { type Finding, Report } from "./report.ts";
export { reportMalformed } from "./malformed.ts";
export { SOURCE_RULES, type SourceCode } from "./source-rules.ts";
