import type { Source } from "@steps/model/diagnostic";
import { type Document, isAlias, isMap, isPair, isScalar, isSeq, type Node, type Pair, type Scalar } from "yaml";
import type { Report } from "./report.ts";
import { MAX_ALIAS_NODES, MAX_DEPTH } from "./limits.ts";
import { type Span, spanPosition } from "./span.ts";
import { describeNode, type YamlEntry, type YamlNode, type YamlScalar } from "./yaml-node.ts";

interface TreeContext {
  readonly source: Source;
  readonly report: Report;
  readonly tags?: readonly string[];
  readonly takesLastKey?: boolean;
}

/** A finished node with what it costs: nodes with aliases followed, and levels. */
interface Built {
  readonly node: YamlNode;
  readonly size: number;
  readonly depth: number;
}

interface BuildState extends TreeContext {
  readonly anchors: Map<string, Built | "open">;
  aliasNodes: number;
  isBroken: boolean;
}

const MERGE_KEY = "<<";
const CORE_TAG = /^(?:!|tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq))$/;

/** Turns the parser's tree into ours. `isBroken`: an alias or the nesting made it impossible; it was reported. */
export function buildYamlTree(
  document: Document.Parsed,
  context: TreeContext,
): { readonly node: YamlNode; readonly isBroken: boolean } {
  const state: BuildState = { ...context, anchors: new Map(), aliasNodes: 0, isBroken: false };
  const { node } = build(document.contents, document.range[0], state);
  return { node, isBroken: state.isBroken };
}

function build(node: Node | null, offset: number, state: BuildState): Built {
  if (isAlias(node)) return follow(node.source, node.range?.[0] ?? offset, state);
  const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
  if (anchor !== undefined) state.anchors.set(anchor, "open");
  const built = buildContent(node, offset, state);
  if (built.depth > MAX_DEPTH && !state.isBroken) {
    breakOff(state, pick(built.node), "too-deep", `The text is nested deeper than ${MAX_DEPTH} levels`);
  }
  if (anchor !== undefined) state.anchors.set(anchor, built);
  return built;
}

function buildContent(node: Node | null, offset: number, state: BuildState): Built {
  const start = node?.range?.[0] ?? offset;
  const place = { source: state.source, offset: start, length: Math.max(0, (node?.range?.[1] ?? start) - start) };
  const tag = readTag(node, place, state);
  const base = { ...place, ...(tag === undefined ? {} : { tag }) };
  if (isMap(node)) {
    const { entries, size, depth } = buildEntries(node.items as Pair<Node | null, Node | null>[], start, state);
    return { node: { kind: "mapping", entries, ...base }, size, depth };
  }
  if (isSeq(node)) {
    const items = node.items.map((item) =>
      build(isPair(item) ? null : (item as Node | null), start + place.length, state),
    );
    return {
      node: { kind: "list", items: items.map((item) => item.node), ...base },
      size: items.reduce((sum, item) => sum + item.size, 1),
      depth: 1 + items.reduce((deepest, item) => Math.max(deepest, item.depth), 0),
    };
  }
  const scalar = buildScalar(isScalar(node) ? node : undefined, base);
  // Long texts count for more, so that aliases cannot multiply them either.
  return { node: scalar, size: 1 + (scalar.text.length >> 6), depth: 0 };
}

function readTag(node: Node | null, place: Span, state: BuildState): string | undefined {
  const tag = node?.tag;
  if (tag === undefined || CORE_TAG.test(tag)) return undefined;
  if (state.tags?.includes(tag) === true) return tag;
  state.report.error(place, { code: "unknown-tag", message: `Unknown tag: "${tag.slice(0, 80)}"` });
  return undefined;
}

const STYLES: Readonly<Record<string, YamlScalar["style"]>> = {
  QUOTE_SINGLE: "single-quoted",
  QUOTE_DOUBLE: "double-quoted",
  BLOCK_LITERAL: "block",
  BLOCK_FOLDED: "block",
};

function buildScalar(scalar: Scalar | undefined, base: Span & { readonly tag?: string }): YamlScalar {
  const { value } = scalar ?? {};
  const text = scalar?.source ?? "";
  const isJson = value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string";
  const style = STYLES[scalar?.type ?? "PLAIN"] ?? "plain";
  return { kind: "scalar", value: isJson ? value : scalar === undefined ? null : text, text, style, ...base };
}

function follow(name: string, offset: number, state: BuildState): Built {
  const place = { source: state.source, offset, length: name.length + 1 };
  const target = state.anchors.get(name);
  if (target !== undefined && target !== "open") {
    state.aliasNodes += target.size;
    if (state.aliasNodes <= MAX_ALIAS_NODES) return target;
    breakOff(state, place, "alias-limit", `Aliases add more than ${MAX_ALIAS_NODES} nodes to the text`);
  } else {
    const reason = target === "open" ? "The alias is inside what it names" : "The alias names no earlier anchor";
    breakOff(state, place, "unknown-alias", `${reason}: "*${name.slice(0, 80)}"`);
  }
  return { node: buildScalar(undefined, place), size: 1, depth: 0 };
}

function breakOff(
  state: BuildState,
  place: Span,
  code: "alias-limit" | "too-deep" | "unknown-alias",
  message: string,
): void {
  // Once is enough: each further alias would only repeat it.
  if (code !== "alias-limit" || state.aliasNodes !== Infinity) state.report.error(pick(place), { code, message });
  if (code === "alias-limit") state.aliasNodes = Infinity;
  state.isBroken = true;
}

function pick({ source, offset, length }: Span): Span {
  return { source, offset, length };
}

interface Entries {
  readonly entries: ReadonlyMap<string, YamlEntry>;
  readonly size: number;
  readonly depth: number;
}

function buildEntries(pairs: readonly Pair<Node | null, Node | null>[], start: number, state: BuildState): Entries {
  const own = new Map<string, YamlEntry>();
  const merged: YamlNode[] = [];
  let size = 1;
  let depth = 0;
  let end = start;
  for (const pair of pairs) {
    const key = buildKey(pair.key, end, state);
    const value = build(pair.value, key.offset + key.length, state);
    end = value.node.offset + value.node.length;
    size += value.size;
    depth = Math.max(depth, value.depth);
    const isMerge = key.style === "plain" && key.text === MERGE_KEY;
    if (isMerge) merged.push(value.node);
    else addEntry(own, { key, value: value.node }, state);
  }
  return { entries: merged.length === 0 ? own : mergeEntries(own, merged, state), size, depth: depth + 1 };
}

function buildKey(key: Node | null, offset: number, state: BuildState): YamlScalar {
  const { node } = build(key, offset, state);
  if (node.kind === "scalar" && !(node.value === null && node.text === "")) return node;
  const message = node.kind === "scalar" ? "The key is empty" : `A key must be a string, found a ${node.kind}`;
  state.report.error(node, { code: "invalid-key", message });
  return buildScalar(undefined, pick(node));
}

function addEntry(entries: Map<string, YamlEntry>, entry: YamlEntry, state: BuildState): void {
  const { key } = entry;
  const before = entries.get(key.text);
  if (before === undefined || state.takesLastKey === true) entries.set(key.text, entry);
  if (before === undefined) return;
  state.report.add(state.takesLastKey === true ? "warning" : "error", key, () => ({
    code: "duplicate-key",
    message: `The key is given twice: "${key.text.slice(0, 80)}"`,
    hint: `The first one is in line ${spanPosition(before.key).line}${state.takesLastKey === true ? ", and is lost" : ""}.`,
  }));
}

/** The mapping's own entries take precedence over those that it merges, and earlier merges over later ones. */
function mergeEntries(
  own: ReadonlyMap<string, YamlEntry>,
  merged: readonly YamlNode[],
  state: BuildState,
): ReadonlyMap<string, YamlEntry> {
  const entries = new Map<string, YamlEntry>();
  for (const node of merged.flatMap((value) => (value.kind === "list" ? value.items : [value]))) {
    if (node.kind !== "mapping") {
      state.report.error(node, {
        code: "invalid-merge",
        message: `A merge key takes a mapping or a list of mappings, found ${describeNode(node)}`,
      });
      continue;
    }
    for (const [name, entry] of node.entries) if (!entries.has(name)) entries.set(name, entry);
  }
  for (const [name, entry] of own) entries.set(name, entry);
  return entries;
}
