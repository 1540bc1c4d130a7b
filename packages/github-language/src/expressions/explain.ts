import type { Value } from "@steps/model";
import { clip } from "./error.ts";
import { type Contexts, peekContext } from "./evaluation.ts";
import type { Node } from "./node.ts";
import { type Data, isPrimitive, isTruthy, textOf } from "./operators.ts";
import { renderNode } from "./render.ts";

const MAX_LENGTH = 500;
const MAX_PARTS = 3;
const MAX_VALUES = 2;
const MAX_VALUE_LENGTH = 60;

/** Tells which part of a condition made it true or false. `trace` has the values of the parts that were evaluated. */
export function explain(node: Node, trace: ReadonlyMap<Node, Data>, contexts: Contexts): string {
  const decisive = findDecisive(node, trace);
  const shown = decisive.slice(0, MAX_PARTS).map((part) => explainPart(part, trace, contexts));
  const more = decisive.length > MAX_PARTS ? ` and ${decisive.length - MAX_PARTS} more` : "";
  return clip(shown.join(" and ") + more, MAX_LENGTH);
}

// For a false `a && b` the first false operand decides; for a false `a || b` both do.
function findDecisive(node: Node, trace: ReadonlyMap<Node, Data>): Node[] {
  if (node.type !== "logic") return [node];
  const evaluated = node.operands.filter((operand) => trace.has(operand));
  const result = isTruthy(trace.get(node) ?? null);
  const deciding = result === (node.operator === "&&") ? evaluated : evaluated.slice(-1);
  return deciding.flatMap((operand) => findDecisive(operand, trace));
}

function explainPart(node: Node, trace: ReadonlyMap<Node, Data>, contexts: Contexts): string {
  const source = `\`${oneLine(clip(renderNode(node), 120))}\``;
  const data = trace.get(node) ?? null;
  const operands = typeof data === "boolean" ? operandsOf(node).filter((operand) => trace.has(operand)) : [node];
  const values = operands.slice(0, MAX_VALUES).map((operand) => trace.get(operand) ?? null);
  // One value beside a secret can tell what the secret is, in `secrets.a == inputs.b`.
  const isHidden = namesSecret(node) || values.some((value) => holdsSecret(value, contexts));
  const shown = isHidden ? [] : values.map(describe);
  if (typeof data !== "boolean") return `${source} is ${isHidden ? describeHidden(data) : shown.join("")}`;
  return `${source} is ${data}${shown.length === 0 ? "" : ` (${shown.join(" and ")})`}`;
}

// The parts whose values say why: those that are not written down in the condition itself.
function operandsOf(node: Node): Node[] {
  switch (node.type) {
    case "compare":
      return [node.left, node.right].filter(isUnknown);
    case "call":
      return node.args.filter(isUnknown);
    case "not":
      return node.operand.type === "index" || node.operand.type === "context"
        ? [node.operand]
        : operandsOf(node.operand);
    default:
      return [];
  }
}

function isUnknown({ type }: Node): boolean {
  return type === "context" || type === "index" || type === "call";
}

function describe(data: Data): string {
  if (data === null) return "null";
  if (!isPrimitive(data)) return textOf(data) === "Array" ? "an array" : "an object";
  return typeof data === "string" ? oneLine(JSON.stringify(clip(data, MAX_VALUE_LENGTH))) : textOf(data);
}

function describeHidden(data: Data): string {
  return isTruthy(data) ? "set" : "empty";
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\u0085]+/g, " ").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}

/** Whether an expression reads a secret or the token, or more of `github` than it says. */
function namesSecret(node: Node): boolean {
  switch (node.type) {
    case "literal":
      return false;
    case "context":
      return node.name === "secrets" || node.name === "github";
    case "index":
      return namesSecretKey(node.object, node.key);
    case "call":
      return node.args.some(namesSecret);
    case "not":
      return namesSecret(node.operand);
    case "compare":
      return namesSecret(node.left) || namesSecret(node.right);
    case "logic":
      return node.operands.some(namesSecret);
  }
}

function namesSecretKey(object: Node, key: Node | "*"): boolean {
  if (key !== "*" && namesSecret(key)) return true;
  if (object.type !== "context" || object.name !== "github") return namesSecret(object);
  return key === "*" || key.type !== "literal" || String(key.value).toLowerCase() === "token";
}

// A secret may also come another way, such as by an input whose default is the token.
function holdsSecret(data: Data, contexts: Contexts): boolean {
  if (!isPrimitive(data)) return false;
  const text = textOf(data);
  return knownSecrets(contexts).some((secret) => text.slice(0, MAX_VALUE_LENGTH + secret.length).includes(secret));
}

function knownSecrets(contexts: Contexts): string[] {
  const secrets = membersOf(peekContext(contexts, "secrets")).map(([, value]) => value);
  const tokens = membersOf(peekContext(contexts, "github"))
    .filter(([key]) => key.toLowerCase() === "token")
    .map(([, value]) => value);
  return [...secrets, ...tokens].filter((value) => typeof value === "string").filter((value) => value !== "");
}

function membersOf(value: Value): [string, Value][] {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];
}
