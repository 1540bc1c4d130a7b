import { createObject, type Value } from "@steps/model";
import { checkName } from "./check-name.ts";
import { checkTemplates } from "./check-template.ts";
import { asMapping, asValue, type CompileContext, escapePointer } from "./context.ts";
import { childOf, type YamlMapping } from "./yaml-node.ts";

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
