import { nearest, quote } from "@steps/model/diagnostic";
import type { YamlEntry, YamlMapping, YamlNode, YamlScalar } from "@steps/source";
import { readPsychScalar } from "../../psych.ts";
import type { CiReport } from "../../ci-rules.ts";
import { isList, isMapping, isNull, stringOf } from "../nodes.ts";

/** The types that an input may have. */
export type InputType = "string" | "number" | "boolean" | "array";

/** One input as a header declares it. */
export interface InputSpec {
  /** The place of its name. */
  readonly key: YamlScalar;
  readonly type: InputType;
  /** Absent when the input must be given, or when its rules say the default; `null` counts as absent. */
  readonly default?: YamlNode | undefined;
  /** The values that it takes; absent for any. */
  readonly options?: readonly YamlNode[] | undefined;
  /** A regular expression in RE2's syntax; absent for any text. */
  readonly regex?: YamlScalar | undefined;
  readonly rules?: readonly InputRule[] | undefined;
}

/** One rule of an input. */
export interface InputRule {
  /** Absent for a rule that always holds. */
  readonly condition?: YamlScalar | undefined;
  readonly default?: YamlNode | undefined;
  readonly options?: readonly YamlNode[] | undefined;
}

/** The header of a file. */
export interface Header {
  readonly inputs: ReadonlyMap<string, InputSpec>;
  /** Files that declare more inputs: the node of `spec:include`. */
  readonly include: YamlNode | undefined;
  /** The fields that `$[[ component.x ]]` may name. */
  readonly component: ReadonlySet<string>;
}

const TYPES: readonly InputType[] = ["string", "number", "boolean", "array"];
const SPEC_KEYS = ["inputs", "include", "component", "description"];
const INPUT_KEYS = ["type", "default", "description", "options", "regex", "rules"];
const RULE_KEYS = ["if", "options", "default"];
const COMPONENT_FIELDS = ["name", "sha", "version", "reference"];
const MAX_OPTIONS = 50;

/** Reads the document before `---`. What is wrong is reported. */
export function readHeader(root: YamlMapping, report: CiReport): Header {
  checkKeys(root, { owner: "The header", known: ["spec"] }, report);
  const spec = root.entries.get("spec")?.value;
  if (!isMapping(spec)) {
    if (spec !== undefined && !isNull(spec)) wrong(spec, `"spec" is not a mapping`, report);
    return { inputs: new Map(), include: undefined, component: new Set() };
  }
  checkKeys(spec, { owner: `"spec"`, known: SPEC_KEYS }, report);
  return {
    inputs: readInputs(spec.entries.get("inputs")?.value, report),
    include: spec.entries.get("include")?.value,
    component: new Set(readComponent(spec.entries.get("component")?.value, report)),
  };
}

/** Reads the mapping of inputs, that of a header or of a file that a header includes. */
export function readInputs(node: YamlNode | undefined, report: CiReport): ReadonlyMap<string, InputSpec> {
  const inputs = new Map<string, InputSpec>();
  if (node === undefined || isNull(node)) return inputs;
  if (!isMapping(node)) wrong(node, `"inputs" is not a mapping`, report);
  else for (const [name, entry] of node.entries) inputs.set(name, readInput(name, entry, report));
  return inputs;
}

function readInput(name: string, { key, value }: YamlEntry, report: CiReport): InputSpec {
  if (isNull(value)) return { key, type: "string" };
  if (!isMapping(value)) {
    wrong(value, `The input ${quote(name)} is not a mapping`, report);
    return { key, type: "string" };
  }
  checkKeys(value, { owner: `The input ${quote(name)}`, known: INPUT_KEYS }, report);
  const { entries } = value;
  const type = readType(entries.get("type")?.value, report);
  const options = readOptions(entries.get("options")?.value, report);
  const rules = readRules(entries.get("rules")?.value, report);
  for (const other of ["options", "default"]) {
    const entry = rules === undefined ? undefined : entries.get(other);
    if (entry !== undefined) {
      report.error(entry.key, { code: "conflicting-keys", message: `"${other}" cannot stand beside "rules"` });
    }
  }
  if (options !== undefined && type === "boolean") {
    wrong(entries.get("options")?.key ?? value, `An input that is true or false has no "options"`, report);
  }
  const regex = readRegex(entries.get("regex"), type, report);
  return { key, type, default: present(entries.get("default")?.value), options, regex, rules };
}

function present(node: YamlNode | undefined): YamlNode | undefined {
  return node === undefined || isNull(node) ? undefined : node;
}

function readType(node: YamlNode | undefined, report: CiReport): InputType {
  if (node === undefined) return "string";
  const text = stringOf(node) ?? "";
  const type = TYPES.find((one) => one === text);
  if (type !== undefined) return type;
  const guess = nearest(text, TYPES);
  const hint = guess === undefined ? `The types are ${TYPES.join(", ")}.` : `Did you mean "${guess}"?`;
  report.error(node, { code: "invalid-header", message: `There is no type ${quote(text)} of inputs`, hint });
  return "string";
}

function readOptions(node: YamlNode | undefined, report: CiReport): readonly YamlNode[] | undefined {
  if (node === undefined || isNull(node)) return undefined;
  if (!isList(node)) {
    wrong(node, `"options" is not a list`, report);
    return undefined;
  }
  if (node.items.length > MAX_OPTIONS) wrong(node, `"options" has more than ${MAX_OPTIONS} values`, report);
  return node.items;
}

function readRegex(entry: YamlEntry | undefined, type: InputType, report: CiReport): YamlScalar | undefined {
  if (entry === undefined) return undefined;
  const { key, value } = entry;
  if (type !== "string") wrong(key, `Only an input that is a text has "regex"`, report);
  else if (value.kind === "scalar" && value.tag === undefined && readPsychScalar(value).kind === "string") return value;
  else wrong(value, `"regex" is not a text`, report);
  return undefined;
}

function readRules(node: YamlNode | undefined, report: CiReport): readonly InputRule[] | undefined {
  if (node === undefined || isNull(node)) return undefined;
  if (!isList(node)) {
    wrong(node, `"rules" of an input is not a list`, report);
    return undefined;
  }
  return node.items.flatMap((item) => readRule(item, report) ?? []);
}

function readRule(node: YamlNode, report: CiReport): InputRule | undefined {
  if (!isMapping(node)) {
    wrong(node, "A rule of an input is not a mapping", report);
    return undefined;
  }
  checkKeys(node, { owner: "A rule of an input", known: RULE_KEYS }, report);
  const { entries } = node;
  const condition = entries.get("if")?.value;
  const options = readOptions(entries.get("options")?.value, report);
  if (condition === undefined && options === undefined) {
    wrong(node, `A rule of an input without "if" has "options"`, report);
  } else if (condition !== undefined && options === undefined && !entries.has("default")) {
    wrong(node, `A rule of an input has "options" or "default"`, report);
  }
  const rule = { options, default: present(entries.get("default")?.value) };
  if (condition === undefined) return rule;
  if (condition.kind === "scalar" && stringOf(condition) !== undefined) return { ...rule, condition };
  wrong(condition, `"if" is not a text`, report);
  return undefined;
}

function readComponent(node: YamlNode | undefined, report: CiReport): readonly string[] {
  if (node === undefined || isNull(node)) return [];
  if (!isList(node)) {
    wrong(node, `"component" is not a list of fields`, report);
    return [];
  }
  return node.items.flatMap((item) => {
    const field = stringOf(item) ?? "";
    if (COMPONENT_FIELDS.includes(field)) return [field];
    wrong(item, `A component has no field ${quote(field)}`, report, `The fields are ${COMPONENT_FIELDS.join(", ")}.`);
    return [];
  });
}

function wrong(at: YamlNode, message: string, report: CiReport, hint?: string): void {
  report.error(at, { code: "invalid-header", message, hint });
}

function checkKeys(
  node: YamlMapping,
  { owner, known }: { readonly owner: string; readonly known: readonly string[] },
  report: CiReport,
): void {
  for (const [name, { key }] of node.entries) {
    if (known.includes(name)) continue;
    const guess = nearest(name, known);
    report.error(key, {
      code: "unknown-key",
      message: `${owner} has an unknown key: ${quote(name)}`,
      hint: guess === undefined ? `Known keys: ${known.join(", ")}.` : `Did you mean "${guess}"?`,
    });
  }
}
