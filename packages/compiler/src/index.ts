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
