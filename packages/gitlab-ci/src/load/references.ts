import { nearest, quote } from "@steps/model/diagnostic";
import type { YamlEntry, YamlMapping, YamlNode } from "@steps/source";
import { readPsychScalar } from "../psych.ts";
import { MAX_REFERENCES } from "./limits.ts";
import type { CiReport } from "../ci-rules.ts";
import { isMapping, isReference, stringOf, withEntries } from "./nodes.ts";

interface Resolved {
  readonly node: YamlNode;
  /** The number of references in one another. */
  readonly height: number;
}

interface State {
  readonly root: YamlMapping;
  readonly report: CiReport;
  readonly done: Map<YamlNode, Resolved>;
  /** The references that are being resolved. */
  readonly open: Set<YamlNode>;
}

/**
 * Puts the value that each `!reference` names in its place, at any depth and in hidden jobs too. A value keeps the place
 * where it was written. What is wrong is reported, and such a reference stays as it is.
 */
export function resolveReferences(root: YamlMapping, report: CiReport): YamlMapping {
  const state: State = { root, report, done: new Map(), open: new Set() };
  const { node } = resolve(root, state);
  return node.kind === "mapping" ? node : root;
}

function resolve(node: YamlNode, state: State): Resolved {
  if (node.kind === "scalar" && !isReference(node)) return { node, height: 0 };
  const before = state.done.get(node);
  if (before !== undefined) return before;
  const resolved = isReference(node) ? follow(node, state) : resolveChildren(node, state);
  state.done.set(node, resolved);
  return resolved;
}

function resolveChildren(node: YamlNode, state: State): Resolved {
  let height = 0;
  let isChanged = false;
  const inner = (child: YamlNode): YamlNode => {
    const resolved = resolve(child, state);
    height = Math.max(height, resolved.height);
    isChanged ||= resolved.node !== child;
    return resolved.node;
  };
  if (node.kind === "list") {
    const items = node.items.map(inner);
    return { node: isChanged ? { ...node, items } : node, height };
  }
  if (node.kind !== "mapping") return { node, height };
  const entries = new Map<string, YamlEntry>();
  for (const [name, { key, value }] of node.entries) entries.set(name, { key, value: inner(value) });
  return { node: isChanged ? withEntries(node, entries) : node, height };
}

function follow(node: YamlNode, state: State): Resolved {
  const { report } = state;
  const left: Resolved = { node, height: 0 };
  const names = namesOf(node);
  if (names === undefined) {
    report.error(node, {
      code: "unresolved-reference",
      message: `"!reference" takes a list of texts: [job, keyword]`,
    });
    return left;
  }
  if (state.open.has(node)) {
    report.error(node, {
      code: "circular-reference",
      message: `The reference ${show(names)} leads back to itself`,
    });
    return left;
  }
  const target = find(node, names, state);
  if (target === undefined) return left;
  state.open.add(node);
  const isTooDeep = state.open.size > MAX_REFERENCES;
  const inner = isTooDeep ? { node: target, height: MAX_REFERENCES } : resolve(target, state);
  state.open.delete(node);
  if (inner.height < MAX_REFERENCES) return { node: inner.node, height: inner.height + 1 };
  // One complaint is enough for a chain.
  if (inner.height === MAX_REFERENCES) {
    report.error(node, {
      code: "too-deep",
      message: `The reference ${show(names)} leads to more than ${MAX_REFERENCES} references in one another`,
    });
  }
  return { node, height: MAX_REFERENCES + 1 };
}

function namesOf(node: YamlNode): readonly string[] | undefined {
  if (node.kind !== "list" || node.items.length === 0) return undefined;
  const names = node.items.map(stringOf);
  return names.every((name) => name !== undefined) ? names : undefined;
}

function find(at: YamlNode, names: readonly string[], { root, report }: State): YamlNode | undefined {
  let node: YamlNode = root;
  for (const [index, name] of names.entries()) {
    const within: YamlNode = node;
    const next: YamlNode | undefined = isMapping(within) ? within.entries.get(name)?.value : undefined;
    if (next === undefined || (index === names.length - 1 && isFalsy(next))) {
      report.error(at, () => {
        const guess = isMapping(within) && next === undefined ? nearest(name, within.entries.keys()) : undefined;
        const parent = index === 0 ? "the configuration" : quote(names.slice(0, index).join("."));
        return {
          code: "unresolved-reference",
          message: `The reference ${show(names)} leads nowhere: ${parent} has no ${quote(name)}`,
          hint: guess === undefined ? undefined : `Did you mean ${quote(guess)}?`,
        };
      });
      return undefined;
    }
    node = next;
  }
  return node;
}

// GitLab takes what is not true for what is not there.
function isFalsy(node: YamlNode): boolean {
  if (node.kind !== "scalar" || node.tag !== undefined) return false;
  const { kind, text } = readPsychScalar(node);
  return kind === "null" || (kind === "boolean" && text === "false");
}

function show(names: readonly string[]): string {
  return quote(`[${names.join(", ")}]`);
}
