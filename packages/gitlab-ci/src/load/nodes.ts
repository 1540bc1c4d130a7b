import type { Span, YamlEntry, YamlList, YamlMapping, YamlNode, YamlScalar } from "@steps/source";
import { REFERENCE_TAG } from "../reference-tag.ts";
import { readPsychScalar } from "../psych.ts";

/** Whether a node is a mapping and no reference to one. */
export function isMapping(node: YamlNode | undefined): node is YamlMapping {
  return node?.kind === "mapping" && node.tag === undefined;
}

/** Whether a node is a list and no reference. */
export function isList(node: YamlNode | undefined): node is YamlList {
  return node?.kind === "list" && node.tag === undefined;
}

/** Whether a node is `!reference`. */
export function isReference(node: YamlNode): boolean {
  return node.tag === REFERENCE_TAG;
}

/** Whether a value is there but says nothing. */
export function isNull(node: YamlNode): boolean {
  return node.kind === "scalar" && node.tag === undefined && readPsychScalar(node).kind === "null";
}

/** The text of a scalar that GitLab reads as a string; `undefined` for everything else. */
export function stringOf(node: YamlNode | undefined): string | undefined {
  if (node?.kind !== "scalar" || node.tag !== undefined) return undefined;
  const { kind, text } = readPsychScalar(node);
  return kind === "string" ? text : undefined;
}

/** Whether a `!reference` is left anywhere in a node. */
export function holdsReference(node: YamlNode): boolean {
  const seen = new Set<YamlNode>();
  const waiting = [node];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isReference(next)) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    waiting.push(...childrenOf(next));
  }
  return false;
}

/** The place of a node alone. */
export function spanOf({ source, offset, length }: Span): Span {
  return { source, offset, length };
}

/** A text that was made by the loader, with the place of what it was made from. */
export function madeText(text: string, at: Span): YamlScalar {
  return { kind: "scalar", value: text, text, style: "double-quoted", isMade: true, ...spanOf(at) };
}

/** The scalar with another place: where it was put by the loader. */
export function placedAt(node: YamlNode, at: Span): YamlNode {
  return node.kind === "scalar" ? { ...node, ...spanOf(at), isMade: true } : { ...node, ...spanOf(at) };
}

/** A list that was made by the loader. */
export function madeList(items: readonly YamlNode[], at: Span): YamlList {
  return { kind: "list", items, ...spanOf(at) };
}

/** The mapping with other entries. */
export function withEntries(node: YamlMapping, entries: ReadonlyMap<string, YamlEntry>): YamlMapping {
  return { ...node, entries };
}

/** The cost of a node: its nodes, each counted as often as it is used, and its levels. */
export interface Measure {
  /** The number of nodes; long texts count for more. */
  readonly size: number;
  /** The number of levels of lists and mappings. */
  readonly depth: number;
}

const known = new WeakMap<YamlNode, Measure>();

/** Measures a node in time linear in its different nodes. */
export function measure(node: YamlNode): Measure {
  const before = known.get(node);
  if (before !== undefined) return before;
  let size = 1;
  let depth = 0;
  if (node.kind === "scalar") size += node.text.length >> 6;
  else {
    for (const child of childrenOf(node)) {
      const inner = measure(child);
      size += inner.size;
      depth = Math.max(depth, inner.depth);
    }
    depth += 1;
  }
  const found = { size, depth };
  known.set(node, found);
  return found;
}

/** The values of a mapping or the items of a list. */
function* childrenOf(node: YamlNode): Generator<YamlNode> {
  if (node.kind === "list") yield* node.items;
  else if (node.kind === "mapping") for (const { value } of node.entries.values()) yield value;
}
