import type { YamlEntry, YamlNode } from "@steps/source";
import { MAX_MERGED_ENTRIES } from "./limits.ts";
import type { CiReport } from "../ci-rules.ts";
import { isMapping, withEntries } from "./nodes.ts";

/** How much merging may still cost. */
export interface MergeBudget {
  readonly report: CiReport;
  /** Entries that may still be copied; below zero, the excess was reported and nothing more is merged. */
  left: number;
}

/** Makes the budget of one pipeline. */
export function createMergeBudget(report: CiReport): MergeBudget {
  return { report, left: MAX_MERGED_ENTRIES };
}

/**
 * Merges as GitLab does for `include` and `extends`: mappings entry by entry, the second wins; lists and scalars are
 * replaced whole, by `null` as well. Each value keeps its own place.
 */
export function deepMerge(base: YamlNode, over: YamlNode, budget: MergeBudget): YamlNode {
  if (!isMapping(base) || !isMapping(over) || base.entries.size === 0) return over;
  if (!spend(base.entries.size + over.entries.size, over, budget)) return over;
  const entries = new Map<string, YamlEntry>(base.entries);
  for (const [name, entry] of over.entries) {
    const before = base.entries.get(name);
    entries.set(
      name,
      before === undefined ? entry : { key: entry.key, value: deepMerge(before.value, entry.value, budget) },
    );
  }
  return withEntries(over, entries);
}

function spend(cost: number, at: YamlNode, budget: MergeBudget): boolean {
  if (budget.left < 0) return false;
  budget.left -= cost;
  if (budget.left >= 0) return true;
  budget.report.error(at, {
    code: "configuration-too-large",
    message: `Merging files and jobs copies more than ${MAX_MERGED_ENTRIES} entries`,
  });
  return false;
}
