import { readYaml, type YamlEntry, type YamlMapping, type YamlNode } from "@steps/source";
import { madeText } from "../nodes.ts";
import type { InputSpec } from "./read-header.ts";

/**
 * The inputs that were given as texts, such as on a command line: a text for an input of that type, else what the text says as
 * YAML. Each has a place of its own.
 */
export function nodesOfTexts(
  texts: Readonly<Record<string, string>>,
  specs: ReadonlyMap<string, InputSpec>,
): YamlMapping {
  const source = { name: "<inputs>", text: "" };
  const entries = new Map(
    Object.entries(texts).map(([name, text]): [string, YamlEntry] => {
      const at = { source: { name: `<input ${name}>`, text }, offset: 0, length: text.length };
      const type = specs.get(name)?.type ?? "string";
      const value = type === "string" ? undefined : readValue(at.source);
      return [name, { key: madeText(name, at), value: value ?? madeText(text, at) }];
    }),
  );
  return { kind: "mapping", entries, source, offset: 0, length: 0 };
}

// A text that is no YAML stays a text, which then has the wrong type.
function readValue(source: { readonly name: string; readonly text: string }): YamlNode | undefined {
  const { documents, isBroken } = readYaml(source);
  return isBroken || documents.length !== 1 ? undefined : documents[0];
}
