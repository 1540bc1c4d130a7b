import type { Position } from "@steps/model/diagnostic";
import { childOf, spanPosition, type YamlNode } from "@steps/source";

/** The place of the part of a node that names and indices lead to, or of the nearest part around it. */
export function positionOfNode(from: YamlNode, path: readonly (string | number)[]): Position {
  let node = from;
  for (const step of path) {
    const child = node.kind === "list" ? node.items[Number(step)] : childOf(node, String(step));
    if (child === undefined) break;
    node = child;
  }
  return spanPosition(node);
}
