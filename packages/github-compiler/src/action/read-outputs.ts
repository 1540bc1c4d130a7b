import type { YamlNode } from "@steps/source";
import { createObject } from "@steps/model";
import type { OutputSpec } from "@steps/model/definition";
import { quote } from "@steps/model/diagnostic";
import { entriesOf, reportUnknownKey } from "../reading/mapping.ts";
import { placeAt, type Reading } from "../reading/reading.ts";
import { templateOf } from "../reading/templates.ts";
import { proseOf } from "../reading/texts.ts";

export interface ActionOutputs {
  /** The declared outputs. Each is an empty text by default, so that an action may leave it out. */
  readonly outputs: Readonly<Record<string, OutputSpec>>;
  /** The values of the outputs of a composite action, texts in GitHub's language; empty for other actions. */
  readonly values: Readonly<Record<string, string>>;
}

/** Reads `outputs` of a manifest. Only those of composite actions have values. */
export function readOutputs(reading: Reading, node: YamlNode | undefined, isComposite: boolean): ActionOutputs {
  const outputs: Record<string, OutputSpec> = createObject();
  const values: Record<string, string> = createObject();
  for (const [name, { key, value }] of entriesOf(reading, node, `"outputs"`)) {
    const output = readOutput(reading, name, value);
    outputs[name] = {
      type: "string",
      default: "",
      isSensitive: false,
      ...(output.description ? { description: output.description } : {}),
    };
    placeAt(reading, ["spec", "outputs", name], key);
    if (!isComposite) continue;
    values[name] = output.value ?? "";
    placeAt(reading, ["definition", "outputs", name], output.node ?? key);
    if (output.node !== undefined) continue;
    const message = `The output ${quote(name)} has no "value", so it is always empty`;
    reading.report.warn(key, { code: "missing-key", message });
  }
  return { outputs, values };
}

function readOutput(
  reading: Reading,
  name: string,
  node: YamlNode,
): { readonly description?: string | undefined; readonly value?: string | undefined; readonly node?: YamlNode } {
  let found: ReturnType<typeof readOutput> = {};
  for (const [key, entry] of entriesOf(reading, node, `The output ${quote(name)}`)) {
    const what = `${quote(key)} of the output ${quote(name)}`;
    if (key === "description") found = { ...found, description: proseOf(reading, entry.value, what) };
    else if (key === "value") {
      const value = templateOf(reading, entry.value, { what, at: "composite-output" });
      found = { ...found, value, node: entry.value };
    } else {
      const known = ["description", "value"];
      reportUnknownKey(
        reading,
        { name: key, key: entry.key, what: `the output ${quote(name)}` },
        { known, severity: "warning" },
      );
    }
  }
  return found;
}
