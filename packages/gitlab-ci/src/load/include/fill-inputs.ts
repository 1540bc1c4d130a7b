import { quote } from "@steps/model/diagnostic";
import type { YamlMapping, YamlNode } from "@steps/source";
import type { Asking } from "../asking.ts";
import { loadIncludes } from "./load-includes.ts";
import { componentNodes, type Loading, type OpenFile } from "./loading.ts";
import type { IncludeKind } from "./read-includes.ts";
import { isMapping, isNull } from "../nodes.ts";
import { interpolate } from "../inputs/interpolate.ts";
import { type Header, type InputSpec, readHeader, readInputs } from "../inputs/read-header.ts";
import { resolveInputs } from "../inputs/resolve-inputs.ts";
import { nodesOfTexts } from "../inputs/nodes-of-texts.ts";

const HEADER_KINDS: readonly IncludeKind[] = ["local", "project", "remote"];

/** A file's configuration with the inputs of its header filled in; without a header it is left as it is. */
export function* fillInputs(file: OpenFile, loading: Loading): Asking<YamlMapping> {
  const { document, inputs, texts, at } = file;
  const { report, variables, masked } = loading;
  const { header: node, config } = document;
  if (node === undefined) {
    if (inputs !== undefined) refuseInputs(inputs, loading);
    else if (Object.keys(texts ?? {}).length > 0) refuseTexts(document.source.name, loading);
    return config;
  }
  const header = readHeader(node, report);
  const specs = yield* withIncluded(header, file, loading);
  const given = texts === undefined ? inputs : nodesOfTexts(texts, specs);
  const values = yield* resolveInputs({ specs, given, at }, report);
  // A value that is missing was reported, and would be reported again wherever it is used.
  if (values.size < specs.size) return config;
  const facts = componentNodes(file);
  const component = new Map([...facts].filter(([name]) => header.component.has(name)));
  const filled = interpolate(config, { roots: { inputs: values, component }, variables, masked }, report);
  return isMapping(filled) ? filled : config;
}

function refuseInputs(given: YamlNode, { report }: Loading): void {
  if (isNull(given) || (isMapping(given) && given.entries.size === 0)) return;
  report.error(given, {
    code: "unknown-pipeline-input",
    message: "The file has no header that declares inputs",
  });
}

// They stand in no file, so there is nothing to show.
function refuseTexts(file: string, { report }: Loading): void {
  report.error(undefined, {
    code: "unknown-pipeline-input",
    message: `The file has no header that declares inputs: ${quote(file)}`,
    hint: `It would begin with "spec: {inputs: {…}}" and a line "---".`,
  });
}

function* withIncluded(header: Header, file: OpenFile, loading: Loading): Asking<ReadonlyMap<string, InputSpec>> {
  if (header.include === undefined) return header.inputs;
  const { report } = loading;
  const specs = new Map<string, InputSpec>();
  const add = (name: string, spec: InputSpec): void => {
    if (!specs.has(name)) specs.set(name, spec);
    else
      report.error(spec.key, {
        code: "invalid-header",
        message: `The input ${quote(name)} is declared in two files`,
      });
  };
  for (const { document } of yield* loadIncludes(header.include, file, { loading, kinds: HEADER_KINDS })) {
    const { entries } = document.config;
    for (const [name, { key }] of entries) {
      if (name === "inputs") continue;
      report.error(key, {
        code: "invalid-header",
        message: `A file that a header includes has only "inputs", found ${quote(name)}`,
      });
    }
    for (const [name, spec] of readInputs(entries.get("inputs")?.value, report)) add(name, spec);
  }
  for (const [name, spec] of header.inputs) add(name, spec);
  return specs;
}
