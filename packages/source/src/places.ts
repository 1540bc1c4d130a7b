import type { Position } from "@steps/model/diagnostic";
import { spanPosition } from "./span.ts";
import { childOf, type YamlNode } from "./yaml-node.ts";

/** The nodes that parts of the baseline were read from, by the JSON pointer of each part (RFC 6901). */
export type Places = Map<string, YamlNode>;

/**
 * The position of the part of the baseline that a JSON pointer names: `/definition/steps/2/inputs/who`. A part without a node
 * of its own has the place of the nearest part around it, or of what stands under the same names in that part's node.
 * `undefined` when not even the whole has a place.
 */
export function positionIn(places: ReadonlyMap<string, YamlNode>, pointer: string): Position | undefined {
  const node = nodeIn(places, pointer);
  return node === undefined ? undefined : spanPosition(node);
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
    const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
    const child = node.kind === "list" ? node.items[Number(name)] : childOf(node, name);
    if (child === undefined) break;
    node = child;
  }
  return node;
}

/** A name as a segment of a JSON pointer: `~` is written `~0`, and `/` is written `~1`. */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
