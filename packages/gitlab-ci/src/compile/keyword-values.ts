import type { Value } from "@steps/model";
import type { YamlNode } from "@steps/source";
import { toCiText, toCiValue } from "../load/ci-value.ts";
import { isList } from "../load/nodes.ts";

/** The items of a keyword that takes one of something or a list; `!reference` leaves lists in lists. */
export function itemsOf(node: YamlNode | undefined): readonly YamlNode[] {
  if (node === undefined) return [];
  return isList(node) ? node.items.flatMap(itemsOf) : [node];
}

/** The value of a mapping; anything else is one without keys. */
export function recordOf(node: YamlNode | undefined): Readonly<Record<string, Value>> {
  const value = node === undefined ? null : toCiValue(node);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/** The texts of a value that is a text or a list of them. */
export function textsOf(value: Value | undefined): string[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.flatMap(textsOf) : [toCiText(value)];
}
