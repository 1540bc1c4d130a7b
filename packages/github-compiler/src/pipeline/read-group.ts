import { childOf, type YamlNode } from "@steps/source";
import { toText } from "@steps/github-language";
import { type EvaluatePlace, evaluateTree } from "../reading/evaluate.ts";
import type { Reading } from "../reading/reading.ts";

/**
 * Reads `concurrency`: the name of a group, of which one holder runs at a time. Names do not differ in case alone. GitHub would
 * also cancel all but the newest of those that wait, which a run on one machine does not.
 */
export function readGroup(reading: Reading, node: YamlNode | undefined, place: EvaluatePlace): string | undefined {
  const group = node?.kind === "mapping" ? childOf(node, "group") : node;
  if (group === undefined) return undefined;
  const value = evaluateTree(reading, group, place);
  return value === undefined || toText(value) === "" ? undefined : toText(value).toLowerCase();
}

/** The reason why a group that a caller holds cannot be waited for, as GitHub sees it too. */
export function waitsForEver(group: string): string {
  return `It would wait for ever for the concurrency group "${group}", which the workflow or one of its callers holds`;
}
