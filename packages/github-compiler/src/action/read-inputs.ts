import type { YamlNode } from "@steps/source";
import { createObject } from "@steps/model";
import type { InputSpec } from "@steps/model/definition";
import { quote } from "@steps/model/diagnostic";
import { entriesOf } from "../reading/mapping.ts";
import { placeAt, type Reading } from "../reading/reading.ts";
import { templateOf } from "../reading/templates.ts";
import { proseOf, scalarText } from "../reading/texts.ts";

export interface ActionInputs {
  /** By their names as written. */
  readonly inputs: Readonly<Record<string, InputSpec>>;
  /** By name, the messages for callers that give an input that is deprecated. */
  readonly deprecated: Readonly<Record<string, string>>;
  readonly required: readonly string[];
}

interface Draft {
  readonly inputs: Record<string, InputSpec>;
  readonly deprecated: Record<string, string>;
  readonly required: string[];
}

/** Reads `inputs` of a manifest. Whatever else an input has is the author's own, as the runner has it. */
export function readInputs(reading: Reading, node: YamlNode | undefined): ActionInputs {
  const draft: Draft = { inputs: createObject(), deprecated: createObject(), required: [] };
  for (const [name, { key, value }] of entriesOf(reading, node, `"inputs"`)) {
    if (name === "") reading.report.error(key, { code: "invalid-name", message: "The name of an input is empty" });
    else readInput(reading, { name, node: value }, draft);
    placeAt(reading, ["spec", "inputs", name], key);
  }
  return draft;
}

function readInput(
  reading: Reading,
  { name, node }: { readonly name: string; readonly node: YamlNode },
  draft: Draft,
): void {
  const what = `The input ${quote(name)}`;
  let input: InputSpec = { type: "string", isSensitive: false };
  for (const [key, { value }] of entriesOf(reading, node, what)) {
    // The runner does not care about the case of these.
    switch (key.toLowerCase()) {
      case "default": {
        const text = templateOf(reading, value, { what: `The default of ${quote(name)}`, at: "input-default" });
        if (text !== undefined) input = { ...input, default: text };
        placeAt(reading, ["spec", "inputs", name, "default"], value);
        break;
      }
      case "deprecationmessage": {
        const text = proseOf(reading, value, `"deprecationMessage" of ${quote(name)}`);
        if (text) draft.deprecated[name] = text;
        break;
      }
      case "required":
        if (value.kind === "scalar" && scalarText(value).toLowerCase() === "true") draft.required.push(name);
        break;
      case "description": {
        if (value.kind !== "scalar") break;
        const text = proseOf(reading, value, `The description of ${quote(name)}`);
        if (text) input = { ...input, description: text };
        break;
      }
      default:
    }
  }
  if (reading.advisesAuthor && input.description === undefined) {
    reading.report.note(node, { code: "incomplete-manifest", message: `${what} has no "description"` });
  }
  draft.inputs[name] = input;
}
