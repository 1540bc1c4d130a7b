import { type ActionReference, createObject, isReferenceProblem, parseActionReference, type Value } from "@steps/model";
import { checkTemplates } from "./check-template.ts";
import { reportProblem } from "./compile-reference.ts";
import { asMapping, asString, asValue, type CompileContext, escapePointer } from "./context.ts";
import { childOf, type YamlMapping, type YamlNode } from "./yaml-node.ts";

/** What `action:` or `uses:` names. */
export function readAction(
  context: CompileContext,
  item: YamlMapping,
  { key, pointer }: { readonly key: "action" | "uses"; readonly pointer: string },
): ActionReference | undefined {
  const node = childOf(item, key) as YamlNode;
  context.places.set(`${pointer}/step`, node);
  const text = asString(context, node, key);
  if (text === undefined) return undefined;
  const parsed = parseActionReference(text);
  if (!isReferenceProblem(parsed)) return parsed;
  reportProblem(context, node, parsed);
  return undefined;
}

/** The values for an action: its names are GitHub's, which may hold hyphens and blanks. */
export function readActionInputs(context: CompileContext, item: YamlMapping, pointer: string): Record<string, Value> {
  const inputs = createObject<Value>();
  const [first, second] = ["inputs", "with"].flatMap((key) => item.entries.get(key) ?? []);
  if (second !== undefined) {
    context.collector.report(second.key, {
      code: "conflicting-keys",
      message: "A step can have only one of inputs, with",
      hint: "with is GitHub's word for inputs; keep one.",
    });
  }
  const node = first?.value;
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return inputs;
  const mapping = asMapping(context, node, "inputs");
  if (mapping === undefined) return inputs;
  context.places.set(`${pointer}/inputs`, mapping);
  for (const [name, { value }] of mapping.entries) {
    context.places.set(`${pointer}/inputs/${escapePointer(name)}`, value);
    checkTemplates(context, value);
    inputs[name] = asValue(context, value);
  }
  return inputs;
}
