import type { Value } from "@steps/model";
import { nearest, quote } from "@steps/model/diagnostic";
import type { Span, YamlNode, YamlScalar } from "@steps/source";
import { type Asking, askForCondition, askForMatch } from "../asking.ts";
import { readPsychScalar } from "../../psych.ts";
import { toCiText, toCiValue } from "../ci-value.ts";
import type { CiReport } from "../../ci-rules.ts";
import { isMapping, isNull, stringOf } from "../nodes.ts";
import type { InputRule, InputSpec, InputType } from "./read-header.ts";

/** The inputs of one file: what is declared and what is given. */
export interface InputsOfFile {
  readonly specs: ReadonlyMap<string, InputSpec>;
  /** The mapping that the include gives; `undefined` when it gives none. */
  readonly given: YamlNode | undefined;
  /** The include, or the top of the file: the place of what is missing. */
  readonly at: Span | undefined;
}

interface State extends InputsOfFile {
  readonly report: CiReport;
  readonly values: Map<string, YamlNode | "open" | undefined>;
}

/** The value of each input: what is given, else the default. What does not fit its declaration is reported. */
export function* resolveInputs(inputs: InputsOfFile, report: CiReport): Asking<ReadonlyMap<string, YamlNode>> {
  const state: State = { ...inputs, report, values: new Map() };
  const { given, specs } = inputs;
  if (given !== undefined && !isMapping(given) && !isNull(given)) {
    report.error(given, { code: "invalid-include", message: `"inputs" is not a mapping of names and values` });
  }
  for (const [name, { key }] of isMapping(given) ? given.entries : []) {
    if (!specs.has(name)) reportUnknown(name, key, state);
  }
  for (const name of specs.keys()) yield* valueOf(name, state);
  return new Map([...state.values].flatMap(([name, value]) => (typeof value === "object" ? [[name, value]] : [])));
}

function reportUnknown(name: string, key: YamlScalar, { specs, report }: State): void {
  const guess = nearest(name, specs.keys());
  const list = specs.size === 0 ? "The file declares no inputs." : undefined;
  report.error(key, {
    code: "unknown-pipeline-input",
    message: `The file has no input ${quote(name)}`,
    hint: guess === undefined ? list : `Did you mean ${quote(guess)}?`,
  });
}

function* valueOf(name: string, state: State): Asking<YamlNode | undefined> {
  const before = state.values.get(name);
  if (before !== undefined && before !== "open") return before;
  if (state.values.has(name)) {
    if (before === "open") reportCircle(name, state);
    return undefined;
  }
  state.values.set(name, "open");
  const value = yield* resolve(name, state);
  state.values.set(name, value);
  return value;
}

function reportCircle(name: string, { specs, report }: State): void {
  report.error(specs.get(name)?.key, {
    code: "circular-inputs",
    message: `The rules of the input ${quote(name)} depend on its own value`,
  });
}

function* resolve(name: string, state: State): Asking<YamlNode | undefined> {
  const { specs, given, at, report } = state;
  const spec = specs.get(name) as InputSpec;
  const rule = yield* chooseRule(spec, state);
  const own = isMapping(given) ? given.entries.get(name)?.value : undefined;
  const isGiven = own !== undefined && !isNull(own);
  const value = isGiven ? own : (rule?.default ?? spec.default);
  if (value === undefined) {
    report.error(at ?? spec.key, {
      code: "missing-pipeline-input",
      message: `The input ${quote(name)} is not given`,
    });
    return undefined;
  }
  const options = rule?.options ?? spec.options;
  const finding = findMisfit(value, { type: spec.type, options }) ?? (yield* misfitOfPattern(value, spec, report));
  if (finding === undefined) return value;
  const what = isGiven ? "The value" : "The default";
  report.error(value, {
    code: "invalid-pipeline-input",
    message: `${what} of the input ${quote(name)} ${finding.problem}`,
    hint: finding.hint,
  });
  return undefined;
}

interface Misfit {
  readonly problem: string;
  readonly hint?: string;
}

function findMisfit(
  value: YamlNode,
  { type, options }: { readonly type: InputType; readonly options: readonly YamlNode[] | undefined },
): Misfit | undefined {
  const found = typeOfNode(value);
  if (found !== type) {
    const hint = type === "string" && value.kind === "scalar" ? { hint: "Quote it." } : {};
    return { problem: `must be of type ${type}, found ${found}`, ...hint };
  }
  if (options === undefined || options.some((option) => isSame(option, value))) return undefined;
  const list = options.map((option) => quote(toCiText(toCiValue(option), option)));
  return { problem: "is not one of its options", hint: `The options are ${list.join(", ")}.` };
}

function typeOfNode(node: YamlNode): InputType | "mapping" | "reference" | "date" | "nothing" {
  if (node.tag !== undefined) return "reference";
  if (node.kind !== "scalar") return node.kind === "list" ? "array" : "mapping";
  const { kind } = readPsychScalar(node);
  if (kind === "integer" || kind === "float") return "number";
  return kind === "null" ? "nothing" : kind;
}

function isSame(option: YamlNode, value: YamlNode): boolean {
  return JSON.stringify(toCiValue(option)) === JSON.stringify(toCiValue(value));
}

function* misfitOfPattern(value: YamlNode, { regex }: InputSpec, report: CiReport): Asking<Misfit | undefined> {
  const text = stringOf(value);
  if (regex === undefined || text === undefined) return undefined;
  const matches = yield* askForMatch(regex.text, text);
  if (matches === undefined) {
    report.error(regex, { code: "not-supported", message: `"regex" of an input is not supported here` });
    return undefined;
  }
  if (typeof matches === "boolean") return matches ? undefined : { problem: `does not match ${quote(regex.text)}` };
  report.error(regex, { code: "invalid-header", message: `The pattern cannot be used: ${matches.message}` });
  return undefined;
}

function* chooseRule({ rules = [] }: InputSpec, state: State): Asking<InputRule | undefined> {
  for (const rule of rules) {
    if (rule.condition === undefined || (yield* holds(rule.condition, state))) return rule;
  }
  return undefined;
}

const NAMED_INPUT = /\$\[\[\s*inputs\.([A-Za-z0-9_-]+)\s*\]\]/g;

function* holds(condition: YamlScalar, state: State): Asking<boolean> {
  const { specs, report } = state;
  const inputs = new Map<string, Value>();
  for (const [, name = ""] of condition.text.matchAll(NAMED_INPUT)) {
    if (!specs.has(name)) {
      reportUnknown(name, condition, state);
      return false;
    }
    const value = yield* valueOf(name, state);
    if (value === undefined) return false;
    inputs.set(name, toCiValue(value));
  }
  const verdict = yield* askForCondition({ condition, inputs, report });
  if (verdict !== undefined) return verdict;
  report.error(condition, { code: "not-supported", message: `"if" of an input is not supported here` });
  return false;
}
