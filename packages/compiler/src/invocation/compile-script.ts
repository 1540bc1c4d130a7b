import { createObject, type Value } from "@steps/model";
import type { StepInvocation } from "@steps/model/definition";
import { childOf, describeNode, toValue, type YamlMapping, type YamlNode } from "@steps/source";
import { checkTemplateNode, checkTemplates, holdsExpression, noteScriptInjection } from "../texts/check-template.ts";
import { checkNul } from "../texts/compile-env.ts";
import { asMapping, checkKeys, type CompileContext } from "../context.ts";
import { SCRIPT_INPUTS } from "../keys/invocation-keys.ts";
import { scriptText } from "../texts/script-text.ts";

/** `script:` as the built-in step it stands for. */
export function readScript(
  context: CompileContext,
  item: YamlMapping,
  pointer: string,
): Pick<StepInvocation, "step" | "inputs"> {
  const node = childOf(item, "script") as YamlNode;
  context.places.set(`${pointer}/step`, node);
  context.places.set(`${pointer}/inputs/script`, node);
  const secrets = item.entries.get("secrets");
  if (secrets !== undefined) {
    context.report.error(secrets.key, {
      code: "conflicting-keys",
      message: "A script asks for no secrets",
      hint: "Give it one as a variable: env: {TOKEN: ${{ secrets.token }}}.",
    });
  }
  const inputs = createObject<Value>([["script", readText(context, node)]]);
  const extra = childOf(item, "inputs");
  const isEmpty = extra === undefined || (extra.kind === "scalar" && extra.value === null);
  const mapping = isEmpty ? undefined : asMapping(context, extra, "inputs");
  if (mapping !== undefined) {
    context.places.set(`${pointer}/inputs`, mapping);
    checkKeys(context, mapping, SCRIPT_INPUTS);
    for (const [name, { value }] of mapping.entries) {
      if (!SCRIPT_INPUTS.known.includes(name)) continue;
      context.places.set(`${pointer}/inputs/${name}`, value);
      inputs[name] = readSetting(context, value, name);
    }
  }
  return { step: { kind: "dist", path: "script" }, inputs };
}

function readText(context: CompileContext, node: YamlNode): string {
  const items = node.kind === "list" ? node.items : [node];
  for (const item of items) {
    if (item.kind === "scalar" && (typeof item.value === "string" || (node.kind === "list" && item.value !== null)))
      continue;
    context.report.error(item, () => ({
      code: "wrong-type",
      message: `A script must be a string or a list of strings, found ${node.kind === "list" ? "an item that is " : ""}${describeNode(item)}`,
      hint:
        item.kind === "mapping" ? 'A line with ": " needs quotes, or write the script as a block after |.' : undefined,
    }));
  }
  const text = scriptText(node);
  if (text.trim() === "" && (node.kind !== "list" || node.items.length === 0 || text !== "")) {
    const isString = node.kind === "list" || (node.kind === "scalar" && typeof node.value === "string");
    if (isString) context.report.error(node, { code: "empty-script", message: "The script is empty" });
  }
  checkNul(context, node, text);
  checkTemplateNode(context, node);
  noteScriptInjection(context, node);
  return text;
}

function readSetting(context: CompileContext, node: YamlNode, name: string): Value {
  const isText = node.kind === "scalar" && typeof node.value === "string";
  const fits = name === "shell" ? isText : node.kind === "scalar" && typeof node.value === "boolean";
  if (!fits && !(isText && holdsExpression(node.text))) {
    const type = name === "shell" ? "a string" : "true or false";
    context.report.error(node, () => ({
      code: "wrong-type",
      message: `The input "${name}" of a script must be ${type}, found ${describeNode(node)}`,
    }));
  }
  checkTemplates(context, node);
  return toValue(node);
}
