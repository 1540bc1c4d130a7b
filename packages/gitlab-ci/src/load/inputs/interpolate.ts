import { nearest, quote } from "@steps/model/diagnostic";
import { MAX_DEPTH } from "@steps/source/limits";
import type { Finding, YamlEntry, YamlNode, YamlScalar } from "@steps/source";
import { toCiText, toCiValue } from "../ci-value.ts";
import { MAX_FILLED_LENGTH, MAX_FILLED_NODES, MAX_FILLED_TOTAL } from "../limits.ts";
import type { CiCode, CiReport } from "../../ci-rules.ts";
import { isReference, madeList, madeText, measure, placedAt, stringOf, withEntries } from "../nodes.ts";
import { callFunction, FUNCTION_NAMES, type FunctionContext } from "./functions.ts";

/** The values that `$[[ ]]` may ask for. */
export interface FillContext extends FunctionContext {
  /** The values by root name and name: `inputs`, `component`. */
  readonly roots: Readonly<Record<string, ReadonlyMap<string, YamlNode>>>;
}

interface State {
  readonly context: FillContext;
  readonly report: CiReport;
  readonly done: Map<YamlNode, YamlNode>;
  /** UTF-16 units that were made. */
  length: number;
}

const MAX_FUNCTIONS = 3;

/** GitLab's limit, in bytes there. */
const MAX_BLOCK_LENGTH = 1024;

/**
 * Replaces each `$[[ ]]` in keys and texts. A text that is one block becomes the value itself, of whatever type; in other
 * texts the value becomes text. Results are not looked at again, and have the place of the text that they were put in.
 */
export function interpolate(root: YamlNode, context: FillContext, report: CiReport): YamlNode {
  const state: State = { context, report, done: new Map(), length: 0 };
  const filled = fill(root, state);
  const { size, depth } = measure(filled);
  const finding = tooLarge(size, depth) ?? tooLong(state.length);
  if (finding !== undefined) report.error(root, finding);
  return finding === undefined ? filled : root;
}

function tooLarge(size: number, depth: number): Finding<CiCode> | undefined {
  if (depth > MAX_DEPTH) {
    return { code: "too-deep", message: `With its inputs the file is nested deeper than ${MAX_DEPTH} levels` };
  }
  if (size <= MAX_FILLED_NODES) return undefined;
  return {
    code: "configuration-too-large",
    message: `With its inputs the file has more than ${MAX_FILLED_NODES} values`,
  };
}

function tooLong(length: number): Finding<CiCode> | undefined {
  if (length <= MAX_FILLED_TOTAL) return undefined;
  return {
    code: "configuration-too-large",
    message: `The inputs make more than ${MAX_FILLED_TOTAL} characters of text`,
  };
}

function fill(node: YamlNode, state: State): YamlNode {
  // GitLab leaves references alone.
  if (isReference(node)) return node;
  const before = state.done.get(node);
  if (before !== undefined) return before;
  const filled = fillNode(node, state);
  state.done.set(node, filled);
  return filled;
}

function fillNode(node: YamlNode, state: State): YamlNode {
  if (node.kind === "scalar") return fillScalar(node, state);
  let isChanged = false;
  const inner = <Node extends YamlNode>(child: Node): YamlNode => {
    const filled = fill(child, state);
    isChanged ||= filled !== child;
    return filled;
  };
  if (node.kind === "list") {
    const items = node.items.map(inner);
    return isChanged ? { ...node, items } : node;
  }
  const entries = new Map<string, YamlEntry>();
  for (const [name, { key, value }] of node.entries) {
    const filledKey = name.includes("$[[") ? inner(key) : key;
    const text = filledKey === key ? name : toCiText(toCiValue(filledKey), filledKey);
    entries.set(text, { key: filledKey === key ? key : madeText(text, key), value: inner(value) });
  }
  return isChanged ? withEntries(node, entries) : node;
}

interface Block {
  readonly start: number;
  readonly end: number;
  readonly data: string;
}

function fillScalar(node: YamlScalar, state: State): YamlNode {
  const text = node.text.includes("$[[") ? stringOf(node) : undefined;
  if (text === undefined || state.length > MAX_FILLED_TOTAL) return node;
  const parts: string[] = [];
  let at = 0;
  let length = 0;
  for (const block of findBlocks(text)) {
    const value = evaluate(block, node, state);
    if (value === undefined) return node;
    if (block.start === 0 && block.end === text.length) return placedAt(value, node);
    parts.push(text.slice(at, block.start), toCiText(toCiValue(value), value));
    length += (parts.at(-1) as string).length;
    at = block.end;
    if (text.length + length > MAX_FILLED_LENGTH) return refuse(node, state);
  }
  if (at === 0) return node;
  parts.push(text.slice(at));
  state.length += text.length + length;
  return madeText(parts.join(""), node);
}

function refuse(node: YamlScalar, { report }: State): YamlNode {
  report.error(node, {
    code: "configuration-too-large",
    message: `With its inputs the text is longer than ${MAX_FILLED_LENGTH} characters`,
  });
  return node;
}

function* findBlocks(text: string): Generator<Block> {
  for (let at = text.indexOf("$[["); at !== -1;) {
    const close = text.indexOf("]]", at + 3);
    if (close === -1) return;
    const data = text.slice(at + 3, close).trim();
    const isBlock = data.length > 1 && !data.includes("\n");
    // The matrix of a job is known only later.
    if (isBlock && !/^matrix\s*\./.test(data)) yield { start: at, end: close + 2, data };
    at = text.indexOf("$[[", isBlock ? close + 2 : at + 3);
  }
}

function evaluate({ data, start, end }: Block, node: YamlScalar, state: State): YamlNode | undefined {
  const complain = (message: string, hint?: string): undefined => {
    const part = { offset: start, length: end - start };
    state.report.error(node, { code: "invalid-interpolation", message, hint, part });
  };
  const [access = "", ...calls] = data.split("|").map((part) => part.trim());
  if (data.length > MAX_BLOCK_LENGTH) return complain(`"$[[ ]]" holds more than ${MAX_BLOCK_LENGTH} characters`);
  if (calls.length > MAX_FUNCTIONS) return complain(`"$[[ ]]" has more than ${MAX_FUNCTIONS} functions`);
  const { roots } = state.context;
  const [root = "", name, ...deeper] = access.split(".");
  const values = Object.hasOwn(roots, root) ? roots[root] : undefined;
  if (name === undefined || deeper.length > 0 || values === undefined) {
    return complain(`${quote(`$[[ ${data} ]]`)} does not name an input`, `Write "$[[ inputs.name ]]".`);
  }
  let value = values.get(name);
  if (value === undefined) {
    const guess = nearest(name, values.keys());
    const hint = guess === undefined ? undefined : `Did you mean ${quote(guess)}?`;
    return complain(`The header of the file does not declare ${quote(`${root}.${name}`)}`, hint);
  }
  for (const call of calls) {
    const result = callFunction(call, stringOf(value), state.context);
    if ("problem" in result) {
      return complain(`${quote(`$[[ ${data} ]]`)}: ${result.problem}`, hintOf(call));
    }
    const made = result.value;
    value = typeof made === "string" ? madeText(made, node) : madeList(listOf(made, node), node);
  }
  return value;
}

function hintOf(call: string): string | undefined {
  const name = /^\w*/.exec(call)?.[0] ?? "";
  if (FUNCTION_NAMES.includes(name)) return undefined;
  const guess = nearest(name, FUNCTION_NAMES);
  return guess === undefined ? `The functions are ${FUNCTION_NAMES.join(", ")}.` : `Did you mean "${guess}"?`;
}

function listOf(texts: readonly string[], at: YamlScalar): readonly YamlNode[] {
  return texts.map((text) => madeText(text, at));
}
