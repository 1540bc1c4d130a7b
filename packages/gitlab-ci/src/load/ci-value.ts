import { createObject, type Value } from "@steps/model";
import type { YamlNode, YamlScalar } from "@steps/source";
import { readPsychScalar } from "../psych.ts";

const known = new WeakMap<YamlNode, Value>();

/**
 * The plain value of a node of a configuration, with scalars as GitLab reads them: `yes` is `true`, `010` is 8, a date is its
 * text, NaN and infinities are `null`. A node that several jobs share gives the same value each time, which nobody may change.
 */
export function toCiValue(node: YamlNode): Value {
  const before = known.get(node);
  if (before !== undefined) return before;
  const value = read(node);
  known.set(node, value);
  return value;
}

function read(node: YamlNode): Value {
  if (node.kind === "scalar") return scalarValue(node);
  if (node.kind === "list") return node.items.map(toCiValue);
  const object = createObject<Value>();
  for (const [key, { value }] of node.entries) object[key] = toCiValue(value);
  return object;
}

function scalarValue(node: YamlScalar): Value {
  const { kind, text } = readPsychScalar(node);
  if (kind === "null") return null;
  if (kind === "boolean") return text === "true";
  if (kind === "string" || kind === "date") return text;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/** The text that Ruby makes of a value where it stands inside of a text: nothing is empty, a list is shown in brackets. */
export function toCiText(value: Value, node?: YamlNode): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (node?.kind === "scalar") return readPsychScalar(node).text;
  return typeof value === "object" ? inspect(value) : String(value);
}

function inspect(value: Value): string {
  if (value === null) return "nil";
  if (Array.isArray(value)) return `[${value.map(inspect).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${inspect(member)}`);
  return `{${members.join(", ")}}`;
}
