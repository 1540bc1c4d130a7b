import { createObject } from "@steps/model";
import { childOf, type YamlMapping, type YamlNode, type YamlScalar } from "@steps/source";
import { checkName } from "./check-name.ts";
import { checkTemplateNode } from "./check-template.ts";
import { asMapping, asText, type CompileContext } from "../context.ts";

/** `env`: names with texts. Numbers and booleans are the text they were written as. */
export function readEnv(context: CompileContext, parent: YamlMapping): Record<string, string> {
  const env = createObject<string>();
  const node = childOf(parent, "env");
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return env;
  const mapping = asMapping(context, node, "env");
  if (mapping === undefined) return env;
  for (const [name, { key, value }] of mapping.entries) {
    checkName(context, key, { what: "a variable", isTemplate: true });
    const isNull = value.kind === "scalar" && value.value === null;
    const hint = isNull ? 'For an empty value write "".' : "For JSON text write it in quotes.";
    const text = asText(context, visible(key, value), `The variable "${name.slice(0, 80)}"`, hint);
    if (text === undefined) continue;
    checkTemplateNode(context, value);
    checkNul(context, value, text);
    env[name] = text;
  }
  return env;
}

// A value that is not there is best shown at its key.
function visible(key: YamlScalar, value: YamlNode): YamlNode {
  return value.length > 0 ? value : { ...value, offset: key.offset, length: key.length };
}

/** No process takes a NUL in its arguments or its environment. */
export function checkNul(context: CompileContext, node: YamlNode, text: string): void {
  const offset = text.indexOf("\0");
  if (offset === -1) return;
  context.report.error(node, {
    code: "invalid-character",
    message: "The text holds a NUL character, which no process can be given",
    part: { offset, length: 1 },
  });
}
