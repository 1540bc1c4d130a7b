import { nearest, quote } from "@steps/model/diagnostic";
import type { YamlEntry, YamlMapping, YamlNode } from "@steps/source";
import { MAX_ANCESTORS } from "./limits.ts";
import { deepMerge, type MergeBudget } from "./merge.ts";
import { isMapping, isNull, stringOf, withEntries } from "./nodes.ts";

interface Extended {
  readonly entry: YamlEntry;
  /** The number of ancestors on the longest way. */
  readonly height: number;
}

interface State {
  readonly root: YamlMapping;
  readonly budget: MergeBudget;
  readonly done: Map<string, Extended>;
}

/**
 * Merges every entry at the top of a configuration that has `extends` with what it extends: the ancestors from left to
 * right, the entry itself last. A key that the entry sets to `null` stays `null`. What is wrong is reported.
 */
export function resolveExtends(root: YamlMapping, budget: MergeBudget): YamlMapping {
  const state: State = { root, budget, done: new Map() };
  const entries = new Map<string, YamlEntry>();
  for (const [name, entry] of root.entries) entries.set(name, extend(name, entry, { state, path: [] }).entry);
  return withEntries(root, entries);
}

interface Way {
  readonly state: State;
  /** The names on the way from the entry that was asked for. */
  readonly path: readonly string[];
}

function extend(name: string, entry: YamlEntry, { state, path }: Way): Extended {
  const before = state.done.get(name);
  if (before !== undefined) return before;
  const own: Extended = { entry, height: 0 };
  const parents = isMapping(entry.value) ? entry.value.entries.get("extends") : undefined;
  const extended = parents === undefined ? own : merge(name, entry, { parents: parents.value, state, path });
  state.done.set(name, extended);
  return extended;
}

function merge(name: string, entry: YamlEntry, way: Way & { readonly parents: YamlNode }): Extended {
  const { parents, state, path } = way;
  const { report } = state.budget;
  let merged: YamlNode | undefined;
  let height = 0;
  for (const parent of parentsOf(name, parents, state)) {
    const inner = [...path, name];
    if (inner.includes(parent.name)) {
      const circle = [...inner.slice(inner.indexOf(parent.name)), parent.name].map(quote).join(" → ");
      report.error(parent.node, { code: "circular-extends", message: `Jobs extend one another: ${circle}` });
      continue;
    }
    // A chain is not followed further than it may be, so that a hostile one costs nothing.
    if (inner.length > MAX_ANCESTORS) {
      reportTooLong(inner[0] as string, state);
      height = Infinity;
      break;
    }
    const base = extend(parent.name, parent.entry, { state, path: inner });
    if (base.height === MAX_ANCESTORS) reportTooLong(name, state);
    height = base.height >= MAX_ANCESTORS ? Infinity : Math.max(height, base.height + 1);
    merged = merged === undefined ? base.entry.value : deepMerge(merged, base.entry.value, state.budget);
  }
  const value = merged === undefined ? entry.value : deepMerge(merged, entry.value, state.budget);
  return { entry: { key: entry.key, value }, height };
}

// One complaint is enough for a chain: what extends it further has an infinite height.
function reportTooLong(name: string, { root, budget }: State): void {
  budget.report.error(root.entries.get(name)?.key, {
    code: "too-deep",
    message: `${quote(name)} has a chain of "extends" that is longer than ${MAX_ANCESTORS} ancestors`,
  });
}

interface Parent {
  readonly name: string;
  readonly entry: YamlEntry;
  readonly node: YamlNode;
}

function* parentsOf(child: string, node: YamlNode, { root, budget }: State): Generator<Parent> {
  const { report } = budget;
  if (isNull(node)) return;
  for (const item of node.kind === "list" && node.tag === undefined ? node.items : [node]) {
    const name = stringOf(item);
    const entry = name === undefined ? undefined : root.entries.get(name);
    if (name === undefined) {
      const what = item.tag === undefined ? "something else" : `"!reference", which is filled in later`;
      report.error(item, { code: "wrong-type", message: `"extends" takes names of jobs, found ${what}` });
    } else if (entry === undefined) {
      report.error(item, () => {
        const guess = nearest(name, root.entries.keys());
        return {
          code: "unknown-parent",
          message: `${quote(child)} extends ${quote(name)}, which does not exist`,
          hint: guess === undefined ? undefined : `Did you mean ${quote(guess)}?`,
        };
      });
    } else if (!isMapping(entry.value)) {
      report.error(item, {
        code: "unknown-parent",
        message: `${quote(child)} extends ${quote(name)}, which is not a mapping`,
      });
    } else yield { name, entry, node: item };
  }
}
