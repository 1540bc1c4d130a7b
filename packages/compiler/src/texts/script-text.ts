import type { YamlNode } from "@steps/source";

const joined = new WeakMap<YamlNode, string>();

/** The text of a scalar, or of a list of scalars joined by newlines; made once per node, however many aliases name it. */
export function scriptText(node: YamlNode): string {
  if (node.kind === "scalar") return node.text;
  if (node.kind === "mapping") return "";
  let text = joined.get(node);
  if (text === undefined) {
    text = node.items.map((item) => (item.kind === "scalar" ? item.text : "")).join("\n");
    joined.set(node, text);
  }
  return text;
}
