import type { Node } from "./node.ts";

/** The text of an expression, in one way of writing it. */
export function renderNode(node: Node): string {
  switch (node.type) {
    case "literal":
      return typeof node.value === "string" ? quote(node.value) : String(node.value);
    case "context":
      return node.text;
    case "index":
      return renderOperand(node.object) + renderKey(node.key, node.isDotted);
    case "call":
      return `${node.text}(${node.args.map(renderNode).join(", ")})`;
    case "not":
      return `!${renderOperand(node.operand)}`;
    case "compare":
      return `${renderOperand(node.left)} ${node.operator} ${renderOperand(node.right)}`;
    case "logic":
      return node.operands.map(renderTerm).join(` ${node.operator} `);
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function renderKey(key: Node | "*", isDotted: boolean): string {
  if (key === "*") return ".*";
  return isDotted && key.type === "literal" ? `.${String(key.value)}` : `[${renderNode(key)}]`;
}

function renderOperand(node: Node): string {
  return node.type === "compare" || node.type === "logic" ? `(${renderNode(node)})` : renderNode(node);
}

function renderTerm(node: Node): string {
  return node.type === "logic" ? `(${renderNode(node)})` : renderNode(node);
}
