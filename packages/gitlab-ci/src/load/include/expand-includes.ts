import { quote } from "@steps/model/diagnostic";
import type { YamlMapping, YamlNode } from "@steps/source";
import type { Asking } from "../asking.ts";
import { toCiValue } from "../ci-value.ts";
import { fillInputs } from "./fill-inputs.ts";
import { deepMerge } from "../merge.ts";
import { withEntries } from "../nodes.ts";
import { type FoundFile, loadIncludes } from "./load-includes.ts";
import type { Loading, OpenFile } from "./loading.ts";
import { INCLUDE_KINDS, TRIGGER_KINDS } from "./read-includes.ts";

/** Fills in a file's inputs and merges everything that it includes, in order, under it. */
export function* expandFile(file: OpenFile, loading: Loading): Asking<YamlMapping> {
  const filled = yield* fillInputs(file, loading);
  const include = filled.entries.get("include");
  if (include === undefined) return filled;
  const own = new Map(filled.entries);
  own.delete("include");
  const bare = withEntries(filled, own);
  let merged: YamlNode | undefined;
  const kinds = loading.includesArtifacts && file.path.length === 0 ? TRIGGER_KINDS : INCLUDE_KINDS;
  for (const found of yield* loadIncludes(include.value, file, { loading, kinds })) {
    const expanded = yield* expandIncluded(found, file, loading);
    if (expanded === undefined) continue;
    merged = merged === undefined ? expanded : deepMerge(merged, expanded, loading.budget);
  }
  return merged === undefined ? bare : (deepMerge(merged, bare, loading.budget) as YamlMapping);
}

function* expandIncluded(found: FoundFile, parent: OpenFile, loading: Loading): Asking<YamlMapping | undefined> {
  const { file, document, include, node, key } = found;
  const { name } = document.source;
  const id = JSON.stringify([key, include.inputs === undefined ? null : toCiValue(include.inputs)]);
  const start = parent.path.findIndex((one) => one.id === id);
  if (start !== -1) {
    const between = parent.path.slice(start + 1).map((one) => quote(one.name));
    const way = between.length === 0 ? "" : ` by way of ${between.join(", ")}`;
    loading.report.error(node, { code: "include-cycle", message: `${quote(name)} includes itself${way}` });
    return undefined;
  }
  const { context } = file;
  // A component's own files know what their component is called.
  const component = file.component ?? (key.startsWith('{"kind":"local"') ? parent.component : undefined);
  const { inputs } = include;
  return yield* expandFile(
    { document, context, component, inputs, at: node, path: [...parent.path, { id, name }] },
    loading,
  );
}
