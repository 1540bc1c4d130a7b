import type { Value, ValueType } from "@steps/model";
import type { InputSpec, OutputSpec } from "@steps/model/definition";
import { nearest } from "@steps/model/diagnostic";
import { equalValues, typeOf } from "@steps/model/value";
import { childOf, describeNode, type YamlMapping, type YamlNode } from "@steps/source";
import { asMapping, asText, asValue, checkKeys, type CompileContext } from "../context.ts";
import { INPUT_KEYS, OLD_OUTPUT_TYPES, OUTPUT_KEYS, TYPE_ALIASES, VALUE_TYPES } from "../keys/spec-keys.ts";
import { patternProblem } from "./match-pattern.ts";

interface PortPlace {
  readonly name: string;
  readonly pointer: string;
}

/** The baseline's numbers of the types. */
const TYPE_NUMBERS: readonly (ValueType | undefined)[] = [undefined, undefined, ...VALUE_TYPES];

/** One input of a spec. */
export function readInputPort(context: CompileContext, node: YamlNode, { name, pointer }: PortPlace): InputSpec {
  const port = asMapping(context, node, `The input "${name.slice(0, 80)}"`);
  if (port === undefined) return { type: "string", isSensitive: false };
  checkKeys(context, port, INPUT_KEYS);
  const type = readType(context, port, { isInput: true });
  const common = readCommon(context, port, { type, pointer });
  const options = readOptions(context, port, { type: type.name, pointer, default: common.default });
  const match = readMatch(context, port, { type: type.name, pointer });
  return {
    type: type.name,
    ...common,
    ...readRequired(context, port, common.default),
    options,
    match,
  };
}

/** One output of a spec; `delegate` for the type `step_result` of 2024. */
export function readOutputPort(
  context: CompileContext,
  node: YamlNode,
  { name, pointer }: PortPlace,
): OutputSpec | "delegate" {
  const port = asMapping(context, node, `The output "${name.slice(0, 80)}"`);
  if (port === undefined) return { type: "string", isSensitive: false };
  checkKeys(context, port, OUTPUT_KEYS);
  const type = readType(context, port, { isInput: false });
  if (type.written === "step_result") return "delegate";
  return {
    type: type.name,
    ...readCommon(context, port, { type, pointer }),
    ...(type.written === "raw_string" ? { isRaw: true } : {}),
  };
}

interface PortType {
  readonly name: ValueType;
  /** `undefined` when the author gave none. */
  readonly written: string | undefined;
}

function readType(context: CompileContext, port: YamlMapping, { isInput }: { isInput: boolean }): PortType {
  const node = childOf(port, "type");
  if (node === undefined || isUnspecified(context, node))
    return { name: missingType(context, port), written: undefined };
  if (context.acceptsBaseline && node.kind === "scalar" && typeof node.value === "number") {
    const name = TYPE_NUMBERS[node.value];
    if (name !== undefined) return { name, written: name };
  }
  const written = node.kind === "scalar" ? node.text : "";
  const known = VALUE_TYPES.find((type) => type === written);
  if (known !== undefined) return { name: known, written };
  const isOld = !isInput && OLD_OUTPUT_TYPES.includes(written);
  const alias = Object.hasOwn(TYPE_ALIASES, written) ? TYPE_ALIASES[written] : isOld ? "string" : undefined;
  if (alias !== undefined) {
    context.report.note(node, () => ({
      code: "old-type",
      message: `The type "${written}" is an old name`,
      hint: written === "step_result" ? "Write outputs: delegate." : `Write ${alias}.`,
    }));
    return { name: alias, written };
  }
  context.report.error(node, () => {
    const near = nearest(written, VALUE_TYPES);
    const found = node.kind === "scalar" ? `"${written.slice(0, 80)}"` : describeNode(node);
    return {
      code: "unknown-type",
      message: `Unknown type: ${found}`,
      hint: near === undefined ? `Types: ${VALUE_TYPES.join(", ")}.` : `Did you mean "${near}"?`,
    };
  });
  return { name: "string", written };
}

function isUnspecified(context: CompileContext, node: YamlNode): boolean {
  return (
    context.acceptsBaseline && node.kind === "scalar" && (node.value === "value_type_unspecified" || node.value === 0)
  );
}

function missingType(context: CompileContext, port: YamlMapping): ValueType {
  // Its name is misspelt then, which is said.
  if ([...port.entries.keys()].some((key) => nearest(key, ["type"]) !== undefined)) return "string";
  const problem = { code: "missing-type", message: "The type is missing", hint: "Without one it is string." } as const;
  if (context.options.requiresTypes === true) {
    context.report.error(port, { ...problem, hint: `Write type: and one of ${VALUE_TYPES.join(", ")}.` });
  } else context.report.note(port, () => problem);
  return "string";
}

interface CommonPort {
  readonly default?: Value;
  readonly isSensitive: boolean;
  readonly description?: string;
}

function readCommon(
  context: CompileContext,
  port: YamlMapping,
  { type, pointer }: { type: PortType; pointer: string },
): CommonPort {
  const description = childOf(port, "description");
  const text = description === undefined ? "" : (asText(context, description, "description") ?? "");
  const value = readDefault(context, port, { type, pointer });
  return {
    default: value,
    isSensitive: readFlag(context, port, "sensitive") ?? false,
    ...(text === "" ? {} : { description: text }),
  };
}

function readDefault(
  context: CompileContext,
  port: YamlMapping,
  { type, pointer }: { type: PortType; pointer: string },
): Value | undefined {
  const node = childOf(port, "default");
  if (node === undefined) return undefined;
  context.places.set(`${pointer}/default`, node);
  noteLiteral(context, node);
  if (node.kind === "scalar" && node.value === null) {
    context.report.note(node, () => ({
      code: "null-default",
      message: "The default is null, which makes the input optional",
      hint: "Before 2026 an input with default: null was required.",
    }));
    return null;
  }
  // Blueprint files have no types: every scalar is a string as it stands.
  if (type.written === undefined && node.kind === "scalar") return node.text;
  const value = asValue(context, node);
  checkType(context, node, { value, type: type.name, what: "The default" });
  return value;
}

// The spec is static: the text stays as it is, which may surprise.
function noteLiteral(context: CompileContext, node: YamlNode): void {
  if (node.kind !== "scalar" || !node.text.includes("${{")) return;
  context.report.note(node, () => ({
    code: "literal-expression",
    message: "An expression in the spec is literal text",
    hint: "Defaults are not expanded.",
  }));
}

function checkType(
  context: CompileContext,
  node: YamlNode,
  { value, type, what }: { value: Value; type: ValueType; what: string },
): boolean {
  if (typeOf(value) === type) return true;
  context.report.error(node, () => ({
    code: "type-mismatch",
    message: `${what} does not match the type "${type}": found ${describeNode(node)}`,
    hint:
      type === "string" && node.kind === "scalar" && value !== null
        ? "Quote it."
        : `Give a ${type}, or change the type.`,
  }));
  return false;
}

function readFlag(context: CompileContext, port: YamlMapping, key: string): boolean | undefined {
  const node = childOf(port, key);
  if (node === undefined) return undefined;
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  context.report.error(node, {
    code: "wrong-type",
    message: `${key} must be true or false, found ${describeNode(node)}`,
  });
  return undefined;
}

function readRequired(
  context: CompileContext,
  port: YamlMapping,
  value: Value | undefined,
): { readonly default?: Value } {
  const isRequired = readFlag(context, port, "required");
  if (isRequired === true && value !== undefined) {
    context.report.error(childOf(port, "required") ?? port, {
      code: "conflicting-keys",
      message: "A required input cannot have a default",
      hint: "An input without default is required; remove one of the two.",
    });
  }
  return isRequired === false && value === undefined ? { default: null } : {};
}

function readOptions(
  context: CompileContext,
  port: YamlMapping,
  { type, pointer, ...given }: { type: ValueType; pointer: string; default?: Value | undefined },
): readonly Value[] | undefined {
  const node = childOf(port, "options");
  if (node === undefined) return undefined;
  context.places.set(`${pointer}/options`, node);
  if (node.kind !== "list" || node.items.length === 0) {
    if (context.acceptsBaseline && node.kind === "list") return undefined;
    context.report.error(node, {
      code: "wrong-type",
      message: `options must be a list of at least one value, found ${node.kind === "list" ? "none" : describeNode(node)}`,
    });
    return undefined;
  }
  const isUntyped = childOf(port, "type") === undefined;
  const values = node.items.map((item) => (isUntyped && item.kind === "scalar" ? item.text : asValue(context, item)));
  node.items.forEach((item, i) => checkType(context, item, { value: values[i] as Value, type, what: "The option" }));
  const value = given.default;
  if (value !== undefined && value !== null && !values.some((option) => equalValues(option, value))) {
    const shown = values.map((option) => JSON.stringify(option)).join(", ");
    context.report.error(childOf(port, "default") ?? node, {
      code: "invalid-default",
      message: "The default is not one of the options",
      hint: shown.length > 200 ? undefined : `The options are ${shown}.`,
    });
  }
  return values;
}

function readMatch(
  context: CompileContext,
  port: YamlMapping,
  { type, pointer }: { type: ValueType; pointer: string },
): string | undefined {
  const [match, regex] = [childOf(port, "match"), childOf(port, "regex")];
  const node = match ?? regex;
  if (node === undefined) return undefined;
  if (match !== undefined && regex !== undefined) {
    context.report.error(regex, { code: "conflicting-keys", message: "match and regex are the same key" });
  }
  context.places.set(`${pointer}/match`, node);
  const pattern = asText(context, node, "match");
  if (pattern === undefined || pattern === "") return undefined;
  if (type !== "string") {
    context.report.error(node, { code: "invalid-match", message: `match is for strings, the type is "${type}"` });
  }
  const problem = patternProblem(pattern);
  if (problem !== undefined) {
    const { message, hint, offset, length } = problem;
    context.report.error(node, { code: "invalid-match", message, hint, part: { offset, length } });
  }
  return pattern;
}
