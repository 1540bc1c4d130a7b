import type { Position } from "@steps/model/diagnostic";
import { unescapePointer } from "@steps/model/value";
import { spanPosition } from "./span.ts";
import { childOf, type YamlNode } from "./yaml-node.ts";

/** The nodes that parts of the baseline were read from, by the JSON pointer of each part (RFC 6901). */
export type Places = Map<string, YamlNode>;

/**
 * The position of the part of the baseline that a JSON pointer names: `/definition/steps/2/inputs/who`. A part without a node
 * of its own has the place of the nearest part around it, or of what stands under the same names in that part's node.
 * `undefined` when not even the whole has a place.
 *
 * @param part `key` for the key that a value stands under; a value that was not written under its key has its own place
 */
export function positionIn(places: ReadonlyMap<string, YamlNode>, pointer: string, part?: "key"): Position | undefined {
  const node = (part === "key" ? keyIn(places, pointer) : undefined) ?? nodeIn(places, pointer);
  return node === undefined ? undefined : spanPosition(node);
}

function keyIn(places: ReadonlyMap<string, YamlNode>, pointer: string): YamlNode | undefined {
  const end = pointer.lastIndexOf("/");
  const around = nodeIn(places, pointer.slice(0, Math.max(end, 0)));
  return around?.kind === "mapping" ? around.entries.get(unescapePointer(pointer.slice(end + 1)))?.key : undefined;
}

/** The node that the part of the baseline was read from which a JSON pointer names, or that of the nearest part around it. */
export function nodeIn(places: ReadonlyMap<string, YamlNode>, pointer: string): YamlNode | undefined {
  // In protobuf's JSON form, the inputs and outputs of a spec stand one level deeper than where they were written.
  const segments = pointer.replace(/^\/spec\/spec(?=\/|$)/, "/spec").split("/");
  for (let count = segments.length; count > 0; count--) {
    const node = places.get(segments.slice(0, count).join("/"));
    if (node !== undefined) return descend(node, segments.slice(count));
  }
  return undefined;
}

function descend(from: YamlNode, segments: readonly string[]): YamlNode {
  let node = from;
  for (const segment of segments) {
    const name = unescapePointer(segment);
    const child = node.kind === "list" ? node.items[Number(name)] : childOf(node, name);
    if (child === undefined) break;
    node = child;
  }
  return node;
}
