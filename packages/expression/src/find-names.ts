import type { AccessNode, Expression, Node } from "./ast.ts";
import { readTemplate } from "./read-template.ts";

/** A name that a template uses. */
export interface UsedName {
  /** `name` is looked up in the scope, `function` is called, `member` is read of what `of` names. */
  readonly kind: "name" | "function" | "member";
  readonly name: string;
  /** The name at the root of a member, as `inputs` in `inputs.who`. */
  readonly of?: string;
  /** The names behind a member, as far as they are written out: `outputs`, `text` in `steps.greet.outputs.text`. */
  readonly rest?: readonly FurtherName[];
  /** The offset in the template, in UTF-16 units. */
  readonly offset: number;
  readonly length: number;
  /** Whether the name is read whenever the template is evaluated, and not only if an operand before it has a certain value. */
  readonly isAlwaysRead: boolean;
}

/** A name behind a member. */
interface FurtherName {
  readonly name: string;
  /** From the offset of the used name to the end of this one, in UTF-16 units. */
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

/** The names of the scope that a template uses, each once: those of `Template.roots`. */
export function findRoots(text: string): string[] {
  const roots = readTemplate(text).parts.flatMap((part) => (typeof part === "string" ? [] : part.roots));
  return [...new Set(roots)];
}

function namesOf({ node, dotted, start, end, calls }: Expression): readonly UsedName[] {
  if (node === undefined) {
    const [root, member, ...rest] = dotted ?? [];
    if (root === undefined) return [];
    const span = { offset: start, length: end - start, isAlwaysRead: true };
    const atRoot: UsedName = { kind: "name", name: root, ...span };
    if (member === undefined) return [atRoot];
    const further = rest.map((name) => ({ name, length: span.length }));
    return [atRoot, { kind: "member", name: member, of: root, rest: further, ...span }];
  }
  if (dotted !== undefined) return [];
  const found: UsedName[] = [];
  visit(node, found, true);
  const isGuarded = calls.includes("has") || calls.includes("get");
  return isGuarded ? found.filter(({ kind }) => kind !== "member") : found;
}

function visit(node: Node, found: UsedName[], isAlwaysRead: boolean): void {
  const span = { offset: node.start, length: node.end - node.start, isAlwaysRead };
  switch (node.kind) {
    case "name":
      found.push({ kind: "name", name: node.name, ...span });
      break;
    case "call":
      found.push({ kind: "function", name: node.name, ...span, length: node.name.length });
      break;
    case "access":
      visitAccess(node, found, isAlwaysRead);
      return;
    case "logic":
      // The first operand may decide alone.
      for (const [i, operand] of node.operands.entries()) visit(operand, found, isAlwaysRead && i === 0);
      return;
    default:
  }
  for (const child of childrenOf(node)) visit(child, found, isAlwaysRead);
}

function visitAccess({ base, path }: AccessNode, found: UsedName[], isAlwaysRead: boolean): void {
  visit(base, found, isAlwaysRead);
  const [member, ...rest] = writtenNames(path, base.start);
  if (base.kind === "name" && member !== undefined)
    found.push({ kind: "member", ...member, of: base.name, rest, offset: base.start, isAlwaysRead });
  for (const access of path) if (access.kind === "index") visit(access.index, found, isAlwaysRead);
}

/** The names of a path up to the first that is not written out. */
function writtenNames(path: AccessNode["path"], start: number): readonly FurtherName[] {
  const names: FurtherName[] = [];
  for (const access of path) {
    const name =
      access.kind === "field" ? access.name : access.kind === "index" ? literalText(access.index) : undefined;
    if (name === undefined) break;
    names.push({ name, length: access.end - start });
  }
  return names;
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
    default:
      return [];
  }
}
