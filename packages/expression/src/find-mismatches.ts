import type { AccessNode, BinaryNode, BinaryOperator, CallNode, Node, UnaryNode } from "./ast.ts";
import type { Kind } from "./compare.ts";
import { readTemplate } from "./read-template.ts";

/**
 * A comparison whose sides are of different kinds whatever their values, so that its result never changes (conformance
 * section 20 C27).
 */
export interface KindMismatch {
  readonly operator: BinaryOperator;
  readonly left: Kind;
  readonly right: Kind;
  /** The offset of the comparison in the template, in UTF-16 units. */
  readonly offset: number;
  readonly length: number;
}

const MAX_MISMATCHES = 100;
const COMPARISONS: ReadonlySet<BinaryOperator> = new Set(["==", "!=", "<", "<=", ">", ">="]);

const RESULTS: Readonly<Record<string, Kind>> = {
  ...kinds("string", ["str", "trim", "lower", "upper", "replace", "join", "toJson", "hash_files"]),
  ...kinds("number", ["num", "len"]),
  ...kinds("array", ["split", "keys", "values"]),
  ...kinds("boolean", ["bool", "has", "contains", "startsWith", "endsWith", "file_exists"]),
  ...kinds("boolean", ["success", "failure", "always", "cancelled", "timed_out"]),
};

function kinds(kind: Kind, names: readonly string[]): Record<string, Kind> {
  return Object.fromEntries(names.map((name) => [name, kind]));
}

/**
 * The comparisons of a template that cannot mean what they say, the first hundred: of constants of different kinds, or of
 * something whose kind is known, such as a variable, which is a string. Malformed expressions are passed over.
 */
export function findMismatches(text: string): KindMismatch[] {
  const found: KindMismatch[] = [];
  for (const part of readTemplate(text).parts) {
    // A part that may be read in the dotted language has no operators then.
    if (typeof part === "string" || part.node === undefined || part.dotted !== undefined) continue;
    visit(part.node, found);
  }
  return found.slice(0, MAX_MISMATCHES);
}

/** Gives the kind that a node's value always has, if there is one. */
function visit(node: Node, found: KindMismatch[]): Kind | undefined {
  switch (node.kind) {
    case "literal":
      return node.value === null ? "null" : (typeof node.value as Kind);
    case "text":
      for (const part of node.parts) if (typeof part !== "string") visit(part, found);
      return "string";
    case "name":
      return undefined;
    case "array":
      for (const item of node.items) visit(item, found);
      return "array";
    case "object":
      for (const { key, value } of node.pairs) {
        visit(key, found);
        visit(value, found);
      }
      return "object";
    case "access":
      return visitAccess(node, found);
    case "call":
      return visitCall(node, found);
    case "unary":
      return visitUnary(node, found);
    case "binary":
      return visitBinary(node, found);
    case "logic": {
      const [first, ...rest] = node.operands.map((operand) => visit(operand, found));
      return rest.every((kind) => kind === first) ? first : undefined;
    }
  }
}

// Variables are strings, and so is the status of a step.
function visitAccess({ base, path }: AccessNode, found: KindMismatch[]): Kind | undefined {
  visit(base, found);
  for (const access of path) if (access.kind === "index") visit(access.index, found);
  if (base.kind !== "name") return undefined;
  const last = path.at(-1);
  const isVariable = (base.name === "vars" || base.name === "env") && path.length === 1;
  const isStatus = base.name === "steps" && path.length === 2 && last?.kind === "field" && last.name === "status";
  return isVariable || isStatus ? "string" : undefined;
}

function visitCall({ name, args }: CallNode, found: KindMismatch[]): Kind | undefined {
  for (const arg of args) visit(arg, found);
  return Object.hasOwn(RESULTS, name) ? RESULTS[name] : undefined;
}

function visitUnary({ operators, operand }: UnaryNode, found: KindMismatch[]): Kind {
  visit(operand, found);
  return operators[0] === "!" ? "boolean" : "number";
}

function visitBinary({ first, rest }: BinaryNode, found: KindMismatch[]): Kind | undefined {
  let left = visit(first, found);
  for (const { operator, operand } of rest) {
    const right = visit(operand, found);
    if (!COMPARISONS.has(operator)) {
      left = operator === "+" ? (left ?? right) : "number";
      continue;
    }
    if (left !== undefined && right !== undefined && left !== right) {
      found.push({ operator, left, right, offset: first.start, length: operand.end - first.start });
    }
    left = "boolean";
  }
  return left;
}
