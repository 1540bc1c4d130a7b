import type { Value } from "@steps/model";
import type { Source } from "@steps/model/diagnostic";

/**
 * A node of a YAML document: aliases are followed, merge keys applied, and each node knows its place. An aliased node is
 * one object reached by several ways; there are no cycles.
 */
export type YamlNode = YamlScalar | YamlList | YamlMapping;

interface YamlNodeBase {
  /** The text that `offset` counts in. */
  readonly source: Source;
  /** UTF-16 units from the start of the source. */
  readonly offset: number;
  /** UTF-16 units, 0 for an empty node. */
  readonly length: number;
  /** A tag that the reader was told to accept: `!reference`. */
  readonly tag?: string;
}

/** A scalar, with its value by the core schema of YAML 1.2. */
export interface YamlScalar extends YamlNodeBase {
  readonly kind: "scalar";
  readonly value: null | boolean | number | string;
  /** As written, without quotes and escapes: `1.0` for the number 1. */
  readonly text: string;
  readonly style: "plain" | "single-quoted" | "double-quoted" | "block";
  /** Set when the text is not what stands in the source at this place: a part of it has the place of the whole. Absent for what was read. */
  readonly isMade?: boolean;
}

/** A sequence of YAML. */
export interface YamlList extends YamlNodeBase {
  readonly kind: "list";
  readonly items: readonly YamlNode[];
}

/** A mapping of YAML. */
export interface YamlMapping extends YamlNodeBase {
  readonly kind: "mapping";
  /** In the order of the text; keys that are numbers or booleans are the text they were written as. */
  readonly entries: ReadonlyMap<string, YamlEntry>;
}

/** An entry of a mapping. */
export interface YamlEntry {
  readonly key: YamlScalar;
  readonly value: YamlNode;
}

/** The value of a key of a mapping, `undefined` if it is absent or the node is no mapping. */
export function childOf(node: YamlNode | undefined, key: string): YamlNode | undefined {
  return node?.kind === "mapping" ? node.entries.get(key)?.value : undefined;
}

/** The JSON value of a node. Objects have no prototype; NaN and infinities become `null`. */
export function toValue(node: YamlNode): Value {
  if (node.kind === "list") return node.items.map(toValue);
  if (node.kind === "scalar") {
    return typeof node.value === "number" && !Number.isFinite(node.value) ? null : node.value;
  }
  const object = Object.create(null) as Record<string, Value>;
  for (const [key, entry] of node.entries) object[key] = toValue(entry.value);
  return object;
}

/** Describes a node for a message: `a list`, `the number 5`, `nothing`. */
export function describeNode(node: YamlNode): string {
  if (node.kind !== "scalar") return `a ${node.kind}`;
  if (node.value === null) return "nothing";
  return typeof node.value === "string" ? "a string" : `the ${typeof node.value} ${node.text.slice(0, 40)}`;
}
