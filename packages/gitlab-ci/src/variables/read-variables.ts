import type { Report, YamlEntry, YamlMapping, YamlNode, YamlScalar } from "@steps/source";
import { NAME_PATTERN } from "@steps/model/definition";
import { nearest, quote } from "@steps/model/diagnostic";
import { REFERENCE_TAG } from "../reference-tag.ts";
import type { RawVariable } from "./expand-variables.ts";
import { readPsychScalar } from "../psych.ts";
import { isNothing } from "../read-commands.ts";

/** Gathers what is to be said about variables. */
export type VariableReport = Report<"invalid-variables" | "unquoted-date">;

/** A variable as a file declares it. */
export interface DeclaredVariable extends RawVariable {
  /** The node of the value. */
  readonly node: YamlNode;
}

const FIELDS = {
  global: ["value", "description", "options", "expand"],
  job: ["value", "expand"],
} as const;

/**
 * The `variables` of a file (`global`) or of a job: `NAME: scalar` or `NAME: {value, expand}`. A value is the text that
 * GitLab makes of it; a variable without a value is the empty text. Any other value is reported.
 */
export function readVariables(
  node: YamlNode | undefined,
  scope: keyof typeof FIELDS,
  report: VariableReport,
): ReadonlyMap<string, DeclaredVariable> {
  const variables = new Map<string, DeclaredVariable>();
  if (node === undefined || isNothing(node)) return variables;
  // The loader reported a reference that leads nowhere.
  if (node.tag === REFERENCE_TAG) return variables;
  if (node.kind === "mapping") {
    for (const [name, entry] of node.entries) {
      const variable = isVariableName(name, entry, report) ? readVariable(name, { entry, scope }, report) : undefined;
      if (variable !== undefined) variables.set(name, variable);
    }
  } else {
    report.error(node, { code: "invalid-variables", message: `"variables" is not a mapping of names and values` });
  }
  return variables;
}

function isVariableName(name: string, { key }: YamlEntry, report: VariableReport): boolean {
  if (NAME_PATTERN.test(name)) return true;
  report.error(key, {
    code: "invalid-name",
    message: `${quote(name)} cannot be the name of a variable`,
    hint: "Use letters, digits and underscores; do not begin with a digit.",
  });
  return false;
}

interface Declaration {
  readonly entry: YamlEntry;
  readonly scope: keyof typeof FIELDS;
}

function readVariable(
  name: string,
  { entry, scope }: Declaration,
  report: VariableReport,
): DeclaredVariable | undefined {
  const { value: node } = entry;
  if (node.tag === REFERENCE_TAG) return undefined;
  if (node.kind === "mapping") return readFields(name, { node, scope }, report);
  const value = readText(name, node, report);
  return value === undefined ? undefined : { value, isRaw: false, node };
}

function readFields(
  name: string,
  { node, scope }: { readonly node: YamlMapping; readonly scope: keyof typeof FIELDS },
  report: VariableReport,
): DeclaredVariable | undefined {
  const fields: readonly string[] = FIELDS[scope];
  for (const [field, { key }] of node.entries) {
    if (fields.includes(field)) continue;
    const guess = nearest(field, fields);
    report.error(key, {
      code: "unknown-key",
      message: `The variable "${name}" has an unknown key: ${quote(field)}`,
      hint: guess === undefined ? `Known keys: ${fields.join(", ")}.` : `Did you mean "${guess}"?`,
    });
  }
  const isRaw = !readExpand(node.entries.get("expand")?.value, report);
  const valueNode = node.entries.get("value")?.value;
  // Without a value it is only a field of a form, and is not set.
  if (valueNode === undefined) return undefined;
  const value = readText(name, valueNode, report);
  if (value === undefined) return undefined;
  checkOptions({ name, value, valueNode }, node.entries.get("options")?.value, report);
  return { value, isRaw, node: valueNode };
}

function readExpand(node: YamlNode | undefined, report: VariableReport): boolean {
  if (node === undefined) return true;
  const scalar = node.kind === "scalar" ? readPsychScalar(node) : undefined;
  if (scalar?.kind === "boolean") return scalar.text === "true";
  report.error(node, { code: "invalid-variables", message: `"expand" is neither true nor false` });
  return true;
}

function checkOptions(
  { name, value, valueNode }: { readonly name: string; readonly value: string; readonly valueNode: YamlNode },
  options: YamlNode | undefined,
  report: VariableReport,
): void {
  if (options === undefined) return;
  const isOption = (item: YamlNode): item is YamlScalar => item.kind === "scalar";
  const texts = options.kind === "list" ? options.items.filter(isOption).map((item) => readPsychScalar(item).text) : [];
  if (texts.includes(value)) return;
  report.error(valueNode, { code: "invalid-variables", message: `The value of "${name}" is not one of its options` });
}

function readText(name: string, node: YamlNode, report: VariableReport): string | undefined {
  if (node.kind !== "scalar" || node.tag !== undefined) {
    report.error(node, {
      code: "invalid-variables",
      message: `The value of "${name}" must be a text, found ${node.kind === "scalar" ? "a reference" : `a ${node.kind}`}`,
    });
    return undefined;
  }
  const scalar = readPsychScalar(node);
  if (scalar.text.includes("\0")) {
    report.error(node, { code: "invalid-variables", message: `The value of "${name}" holds a NUL character` });
    return undefined;
  }
  if (scalar.kind === "date") {
    report.warn(node, {
      code: "unquoted-date",
      message: `The value of "${name}" is a date, which GitLab refuses; here it is taken as a text`,
      hint: "Quote the value.",
    });
  }
  return scalar.text;
}
