import type { YamlEntry, YamlMapping, YamlNode } from "@steps/source";
import { nearest, quote } from "@steps/model/diagnostic";
import { REFERENCE_TAG } from "../reference-tag.ts";
import { readPsychScalar } from "../psych.ts";
import { IfError } from "./if/if-error.ts";
import { parseIf } from "./if/parse-if.ts";
import type { Condition, PlacedText } from "./rule.ts";
import type { RuleReport } from "./rule-codes.ts";

/** GitLab's own limit for lists in lists. */
const MAX_DEPTH = 10;

/** The value of a key; `undefined` when it is absent or says nothing. */
export function valueOf(entries: ReadonlyMap<string, YamlEntry>, key: string): YamlNode | undefined {
  const node = entries.get(key)?.value;
  return node === undefined || isNull(node) ? undefined : node;
}

function isNull(node: YamlNode): boolean {
  return node.kind === "scalar" && node.tag === undefined && readPsychScalar(node).kind === "null";
}

/** The text of a scalar that GitLab reads as a string. */
export function stringOf(node: YamlNode): string | undefined {
  if (node.kind !== "scalar" || node.tag !== undefined) return undefined;
  const { kind, text } = readPsychScalar(node);
  return kind === "string" ? text : undefined;
}

/** Reads a string. What is none is reported under the name of its keyword. */
export function readString(keyword: string, node: YamlNode | undefined, report: RuleReport): PlacedText | undefined {
  if (node === undefined) return undefined;
  const text = stringOf(node);
  if (text !== undefined) return { node, text };
  report.error(node, { code: "invalid-rules", message: `"${keyword}" is not a string` });
  return undefined;
}

/** Reads true or false. */
export function readBoolean(keyword: string, node: YamlNode | undefined, report: RuleReport): boolean | undefined {
  if (node === undefined) return undefined;
  const scalar = node.kind === "scalar" && node.tag === undefined ? readPsychScalar(node) : undefined;
  if (scalar?.kind === "boolean") return scalar.text === "true";
  report.error(node, { code: "invalid-rules", message: `"${keyword}" is neither true nor false` });
  return undefined;
}

/** Reads a list of strings; lists in lists are flattened, as those that `!reference` puts there. */
export function readStrings(keyword: string, node: YamlNode, report: RuleReport): readonly PlacedText[] {
  if (node.kind !== "list" || node.tag !== undefined) {
    report.error(node, { code: "invalid-rules", message: `"${keyword}" is not a list of strings` });
    return [];
  }
  const texts = flatten(keyword, node, report).map((item) => readString(keyword, item, report));
  return texts.filter((text) => text !== undefined);
}

/** The items of a list with those of the lists in it. */
export function flatten(keyword: string, node: YamlNode, report: RuleReport): readonly YamlNode[] {
  const items: YamlNode[] = [];
  const add = (item: YamlNode, depth: number): void => {
    if (item.kind !== "list" || item.tag !== undefined) items.push(item);
    else if (depth <= MAX_DEPTH) for (const inner of item.items) add(inner, depth + 1);
    else
      report.error(item, { code: "invalid-rules", message: `"${keyword}" has lists nested deeper than ${MAX_DEPTH}` });
  };
  add(node, 0);
  return items;
}

/** Reports the keys of a mapping that are not known. */
export function checkKeys(
  owner: string,
  { node, known }: { readonly node: YamlMapping; readonly known: readonly string[] },
  report: RuleReport,
): void {
  for (const [key, entry] of node.entries) {
    if (known.includes(key)) continue;
    const guess = nearest(key, known);
    report.error(entry.key, {
      code: "unknown-key",
      message: `${owner} has an unknown key: ${quote(key)}`,
      hint: guess === undefined ? `Known keys: ${known.join(", ")}.` : `Did you mean "${guess}"?`,
    });
  }
}

/** Whether a node is a mapping and no reference to one. */
export function isMapping(node: YamlNode): node is YamlMapping {
  return node.kind === "mapping" && node.tag === undefined;
}

/** Whether a node stands for a value elsewhere. */
export function isReference(node: YamlNode): boolean {
  return node.tag === REFERENCE_TAG;
}

/** Reads a condition. What is wrong or doubtful in it is reported with its place in the text. */
export function readCondition(node: YamlNode, report: RuleReport): Condition | undefined {
  const text = stringOf(node);
  if (text === undefined) {
    report.error(node, { code: "invalid-condition", message: "The condition is not a string", hint: "Quote it." });
    return undefined;
  }
  try {
    const parsed = parseIf(text);
    for (const { message, hint, offset, length } of parsed.doubts) {
      report.warn(node, { code: "doubtful-condition", message, hint, part: { offset, length } });
    }
    return { node, parsed };
  } catch (error) {
    if (!(error instanceof IfError)) throw error;
    const { message, hint, offset, length } = error;
    report.error(node, { code: "invalid-condition", message, hint, part: { offset, length } });
    return undefined;
  }
}
