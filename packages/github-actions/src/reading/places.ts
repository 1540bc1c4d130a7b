import type { YamlNode } from "@steps/compiler";
import { type Position, positionAt } from "@steps/model";

/** The nodes that parts of the baseline came from, by JSON pointer into it. */
export type Places = Map<string, YamlNode>;

/** The place of a part of the baseline, or of the nearest part around it that has one. */
export function positionIn(places: Places, pointer: string): Position | undefined {
  let part = pointer.replace(/^\/spec\/spec(?=\/|$)/, "/spec");
  while (part !== "" && !places.has(part)) part = part.slice(0, Math.max(0, part.lastIndexOf("/")));
  const node = places.get(part);
  return node === undefined ? undefined : positionAt(node.source, node.offset, node.length);
}

/** A segment of a JSON pointer. */
export function escapePointer(name: string): string {
  return /[~/]/.test(name) ? name.replaceAll("~", "~0").replaceAll("/", "~1") : name;
}
