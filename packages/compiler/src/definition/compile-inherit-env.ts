import type { Definition } from "@steps/model/definition";
import { VARIABLE_PATTERN } from "@steps/model/environment";
import { childOf, describeNode, type YamlMapping, type YamlNode } from "@steps/source";
import type { CompileContext } from "../context.ts";

/**
 * Reads the variables that a definition inherits: `false`, a list of patterns, or `true`, which means the same as leaving the
 * key out. A baseline message holds the list within a mapping.
 */
export function readInheritEnv(context: CompileContext, definition: YamlMapping): Pick<Definition, "inheritEnv"> {
  const message = context.acceptsBaseline ? childOf(definition, "inheritEnv") : undefined;
  if (message?.kind === "mapping") return { inheritEnv: readPatterns(context, childOf(message, "names")) };
  const node = childOf(definition, "inherit_env");
  if (node === undefined) return {};
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value ? {} : { inheritEnv: [] };
  if (node.kind === "list") return { inheritEnv: readPatterns(context, node) };
  context.report.error(node, () => ({
    code: "wrong-type",
    message: `inherit_env must be true, false or a list of names, found ${describeNode(node)}`,
    hint: "Write inherit_env: [NAME, PREFIX_*].",
  }));
  return {};
}

function readPatterns(context: CompileContext, node: YamlNode | undefined): readonly string[] {
  if (node?.kind !== "list") return [];
  return node.items.flatMap((item) => {
    const text = item.kind === "scalar" && typeof item.value === "string" ? item.value : "";
    if (VARIABLE_PATTERN.test(text)) return [text];
    context.report.error(item, () => ({
      code: "invalid-name",
      message: `The name of a variable is malformed: ${item.kind === "scalar" ? `"${item.text.slice(0, 80)}"` : describeNode(item)}`,
      hint: "Use letters, digits and _, with * for any characters and ? for one.",
    }));
    return [];
  });
}
