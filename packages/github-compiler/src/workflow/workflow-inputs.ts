import { childOf, type YamlMapping, type YamlNode } from "@steps/source";
import { type Contexts, toText } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";
import { nearest, quote } from "@steps/model/diagnostic";
import { evaluateTree } from "../reading/evaluate.ts";
import { entriesOf } from "../reading/mapping.ts";
import type { Reading } from "../reading/reading.ts";
import { scalarText, textOf } from "../reading/texts.ts";
import type { WorkflowOptions } from "./workflow-options.ts";

/** The types that the inputs of each event may have. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  workflow_dispatch: ["string", "boolean", "choice", "number", "environment"],
  workflow_call: ["string", "boolean", "number"],
};
const EVENTS = Object.keys(TYPES);

/** Says which inputs have a type that there is not, of all events that take any. */
export function checkInputTypes(reading: Reading, root: YamlMapping): void {
  const on = root.entries.get("on")?.value;
  for (const [event, types] of Object.entries(TYPES)) {
    const inputs = childOf(childOf(on, event), "inputs");
    for (const [name, { value }] of inputs?.kind === "mapping" ? inputs.entries : []) {
      const type = childOf(value, "type");
      const text = type?.kind === "scalar" ? scalarText(type) : undefined;
      if (type === undefined || text === undefined || types.includes(text)) continue;
      const near = nearest(text, types);
      const message = `The input ${quote(name)} of ${event} has the type ${quote(text)}, which there is not`;
      const hint = near === undefined ? `There are ${types.join(", ")}.` : `Did you mean "${near}"?`;
      reading.report.error(type, { code: "invalid-value", message, hint });
    }
  }
}

/** The names of the events in `on`. */
export function eventsOf(root: YamlMapping): readonly string[] {
  const on = root.entries.get("on")?.value;
  if (on?.kind === "mapping") return [...on.entries.keys()];
  const items = on === undefined ? [] : on.kind === "list" ? on.items : [on];
  return items.flatMap((item) => (item.kind === "scalar" ? [scalarText(item)] : []));
}

interface Declared {
  readonly name: string;
  readonly key: YamlNode;
  readonly type: string;
  readonly isRequired: boolean;
  readonly default: YamlNode | undefined;
  readonly options: readonly string[] | undefined;
}

/** The context `inputs`: what was given, and the defaults of what was not. Empty for events that have none. */
export function readWorkflowInputs(
  reading: Reading,
  root: YamlMapping,
  options: WorkflowOptions,
): Record<string, Value> {
  const { inputs: wanted } = options;
  const inputs = wanted ?? {};
  const { node, isAsked } = findInputs(root, options);
  const declared = isAsked ? entriesOf(reading, node, `"inputs" of the workflow`) : [];
  const contexts = { github: { ...options.github }, vars: { ...options.vars }, inputs: { ...inputs } };
  const values = createObject<Value>();
  const names: string[] = [];
  for (const [name, { key, value }] of declared) {
    const input = readDeclared(reading, { name, key, node: value });
    names.push(name);
    const given = Object.keys(inputs).find((other) => other.toLowerCase() === name.toLowerCase());
    // Whoever only looks at the file gives none.
    if (input.isRequired && given === undefined && wanted !== undefined) reportMissing(reading, input);
    const found = valueOf(reading, input, { given: given === undefined ? undefined : inputs[given], contexts });
    if (found !== undefined) values[name] = found;
  }
  reportUnknown(reading, node ?? root, { given: Object.keys(inputs), names });
  return values;
}

function findInputs(
  root: YamlMapping,
  { inputs = {}, eventName, isCalled = false }: WorkflowOptions,
): { readonly node: YamlNode | undefined; readonly isAsked: boolean } {
  const on = root.entries.get("on")?.value;
  if (isCalled) return { node: childOf(childOf(on, "workflow_call"), "inputs"), isAsked: true };
  const event = EVENTS.find((name) => (eventName ?? name) === name && childOf(on, name) !== undefined);
  // A workflow that is not started by its event is called by one that is.
  const isOfCaller = event === undefined && eventName !== undefined && !eventsOf(root).includes(eventName);
  const isAsked = eventName === undefined || EVENTS.includes(eventName) || isOfCaller || Object.keys(inputs).length > 0;
  const named = event ?? EVENTS.find((name) => childOf(on, name) !== undefined) ?? "";
  return { node: childOf(childOf(on, named), "inputs"), isAsked };
}

function readDeclared(
  reading: Reading,
  { name, key, node }: { readonly name: string; readonly key: YamlNode; readonly node: YamlNode },
): Declared {
  const type = childOf(node, "type");
  const required = childOf(node, "required");
  const options = childOf(node, "options");
  return {
    name,
    key,
    type: type === undefined ? "string" : (textOf(reading, type, `"type" of the input ${quote(name)}`) ?? "string"),
    isRequired: required?.kind === "scalar" && scalarText(required) === "true",
    default: childOf(node, "default"),
    options:
      options?.kind === "list"
        ? options.items.map((item) => (item.kind === "scalar" ? scalarText(item) : ""))
        : undefined,
  };
}

function valueOf(
  reading: Reading,
  input: Declared,
  { given, contexts }: { readonly given: Value | undefined; readonly contexts: Contexts },
): Value | undefined {
  const { name, key, default: node } = input;
  if (given !== undefined) return convert(reading, { input, at: key, text: toText(given) });
  if (node !== undefined) {
    const what = `The default of the input ${quote(name)}`;
    const place = { what, at: "workflow-call-input-default", contexts } as const;
    const found = node.kind === "scalar" ? evaluateTree(reading, node, place) : textOf(reading, node, what);
    return found === undefined ? undefined : convert(reading, { input, at: node, text: toText(found) });
  }
  return input.type === "boolean" ? false : input.type === "number" ? 0 : "";
}

function reportMissing({ report }: Reading, { name, key, default: node }: Declared): void {
  if (node !== undefined) return;
  const message = `The workflow requires the input ${quote(name)}, which is not given`;
  report.warn(key, { code: "missing-workflow-input", message, hint: `Give it: --input ${name}=VALUE.` });
}

function convert(
  { report }: Reading,
  { input, at, text }: { readonly input: Declared; readonly at: YamlNode; readonly text: string },
): Value | undefined {
  const fail = (takes: string): undefined => {
    const message = `The input ${quote(input.name)} takes ${takes}, not ${quote(text)}`;
    report.error(at, { code: "invalid-value", message });
  };
  if (input.type === "boolean") return text === "true" || text === "false" ? text === "true" : fail("true or false");
  if (input.type === "number") {
    const value = Number(text);
    return text.trim() === "" || Number.isNaN(value) ? fail("a number") : value;
  }
  if (input.type === "choice" && input.options?.includes(text) === false)
    return fail(`one of ${input.options.join(", ")}`);
  return text;
}

function reportUnknown(
  { report }: Reading,
  node: YamlNode,
  { given, names }: { readonly given: readonly string[]; readonly names: readonly string[] },
): void {
  const known = new Set(names.map((name) => name.toLowerCase()));
  for (const name of given.filter((one) => !known.has(one.toLowerCase()))) {
    const near = nearest(name, names);
    const hint =
      near === undefined
        ? names.length === 0
          ? "It takes no inputs."
          : `It takes ${names.join(", ")}.`
        : `Did you mean "${near}"?`;
    report.error(node, { code: "unknown-workflow-input", message: `The workflow has no input ${quote(name)}`, hint });
  }
}
