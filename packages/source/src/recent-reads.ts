import type { Source } from "@steps/model/diagnostic";
import type { ReadYamlOptions, YamlDocuments } from "./read-yaml.ts";

interface Given {
  readonly source: Source;
  readonly options: ReadYamlOptions;
}

/** A command looks at a file to see what it is, then for its names, then for what it says; and may read another between. */
const MAX_READS = 4;

/** What was read last, for as long as somebody, or the engine, keeps it. */
const recent: WeakRef<YamlDocuments>[] = [];
const givenOf = new WeakMap<YamlDocuments, Given>();

/** Returns the result of reading the same text under the same name a moment ago. */
export function recall(given: Given): YamlDocuments | undefined {
  for (const reference of recent) {
    const result = reference.deref();
    const before = result && givenOf.get(result);
    if (before !== undefined && isSame(before, given)) return result;
  }
  return undefined;
}

export function remember(given: Given, result: YamlDocuments): YamlDocuments {
  givenOf.set(result, given);
  recent.unshift(new WeakRef(result));
  recent.length = Math.min(recent.length, MAX_READS);
  return result;
}

function isSame(one: Given, other: Given): boolean {
  return (
    one.source.name === other.source.name &&
    one.source.text === other.source.text &&
    one.source.malformed?.offset === other.source.malformed?.offset &&
    one.source.malformed?.byte === other.source.malformed?.byte &&
    (one.options.takesLastKey ?? false) === (other.options.takesLastKey ?? false) &&
    (one.options.tags ?? []).join() === (other.options.tags ?? []).join()
  );
}
