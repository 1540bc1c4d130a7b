import { createObject, type Value } from "@steps/model";
import { childOf, type YamlMapping } from "@steps/source";
import { escapePointer } from "@steps/model/value";
import { checkName } from "../texts/check-name.ts";
import { checkTemplates } from "../texts/check-template.ts";
import { asMapping, asValue, type CompileContext } from "../context.ts";

/** The values for a step's inputs. */
export function readInputs(
  context: CompileContext,
  item: YamlMapping,
  { pointer, key = "inputs" }: { readonly pointer: string; readonly key?: "inputs" | "with" },
): Record<string, Value> {
  const inputs = createObject<Value>();
  const node = childOf(item, key);
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return inputs;
  const mapping = asMapping(context, node, key);
  if (mapping === undefined) return inputs;
  context.places.set(`${pointer}/inputs`, mapping);
  for (const [name, { key, value }] of mapping.entries) {
    checkName(context, key, { what: "an input", isTemplate: true });
    context.places.set(`${pointer}/inputs/${escapePointer(name)}`, value);
    checkTemplates(context, value);
    inputs[name] = asValue(context, value);
  }
  return inputs;
}
