import type { AccessNode, Expression, Node } from "./ast.ts";
import { readTemplate } from "./read-template.ts";

/** A name that a template uses. */
export interface UsedName {
  /** `name` is looked up in the scope, `function` is called, `member` is read of what `of` names. */
  readonly kind: "name" | "function" | "member";
  readonly name: string;
  /** Of a member: the name at the root, as `inputs` in `inputs.who`. */
  readonly of?: string;
  /** The offset in the template, in UTF-16 units. */
  readonly offset: number;
  readonly length: number;
}

/**
 * The names that a template uses: those at the roots with their first members, and functions. Malformed expressions are passed
 * over, and those that may be read in either language. Members of an expression that asks by `has()` or `get()` whether they are
 * there are left out.
 */
export function findNames(text: string): UsedName[] {
  return readTemplate(text).parts.flatMap((part) => (typeof part === "string" ? [] : namesOf(part)));
}

function namesOf({ node, dotted, start, end, calls }: Expression): readonly UsedName[] {
  if (node === undefined) {
    const [root, member] = dotted ?? [];
    if (root === undefined) return [];
    const span = { offset: start, length: end - start };
    const ofRoot = member === undefined ? [] : [{ kind: "member", name: member, of: root, ...span } as const];
    return [{ kind: "name", name: root, ...span }, ...ofRoot];
  }
  if (dotted !== undefined) return [];
  const found: UsedName[] = [];
  visit(node, found);
  const isGuarded = calls.includes("has") || calls.includes("get");
  return isGuarded ? found.filter(({ kind }) => kind !== "member") : found;
}

function visit(node: Node, found: UsedName[]): void {
  const span = { offset: node.start, length: node.end - node.start };
  switch (node.kind) {
    case "name":
      found.push({ kind: "name", name: node.name, ...span });
      break;
    case "call":
      found.push({ kind: "function", name: node.name, offset: node.start, length: node.name.length });
      break;
    case "access":
      visitAccess(node, found);
      return;
    default:
  }
  for (const child of childrenOf(node)) visit(child, found);
}

function visitAccess({ base, path }: AccessNode, found: UsedName[]): void {
  visit(base, found);
  const [first] = path;
  const member = first?.kind === "field" ? first.name : first?.kind === "index" ? literalText(first.index) : undefined;
  if (base.kind === "name" && first !== undefined && member !== undefined) {
    const span = { offset: base.start, length: first.end - base.start };
    found.push({ kind: "member", name: member, of: base.name, ...span });
  }
  for (const access of path) if (access.kind === "index") visit(access.index, found);
}

function literalText(node: Node): string | undefined {
  if (node.kind === "literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.kind !== "text") return undefined;
  const texts = node.parts.filter((part) => typeof part === "string");
  return texts.length === node.parts.length ? texts.join("") : undefined;
}

function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "text":
      return node.parts.filter((part) => typeof part !== "string");
    case "array":
      return node.items;
    case "object":
      return node.pairs.flatMap(({ key, value }) => [key, value]);
    case "call":
      return node.args;
    case "unary":
      return [node.operand];
    case "binary":
      return [node.first, ...node.rest.map(({ operand }) => operand)];
    case "logic":
      return node.operands;
    default:
      return [];
  }
}
