import type { YamlNode } from "@steps/source";
import { REFERENCE_TAG } from "./ci-file.ts";
import { reportReference } from "./read-commands.ts";
import type { CiReport } from "./ci-rules.ts";

/** Reports every `!reference` in a value; whether there was one. */
export function findReference(node: YamlNode, keyword: string, report: CiReport): boolean {
  const seen = new Set<YamlNode>();
  const waiting = [node];
  let isFound = false;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (next.tag === REFERENCE_TAG) {
      reportReference(next, keyword, report);
      isFound = true;
    } else if (next.kind === "list") {
      for (const item of next.items) waiting.push(item);
    } else if (next.kind === "mapping") {
      for (const { value } of next.entries.values()) waiting.push(value);
    }
  }
  return isFound;
}
