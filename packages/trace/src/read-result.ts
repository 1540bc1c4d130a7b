import { mapObject } from "@steps/model";
import { encodeReference } from "@steps/model/baseline";
import { isReferenceProblem, parseReference } from "@steps/model/reference";
import type { StepResultJson } from "@steps/proto";
import { StepResultSchema } from "@steps/proto";
import { readJsonMessage } from "./decode.ts";
import { TraceError } from "./error.ts";
import { MASK } from "./mask.ts";

type Json = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 200;

/**
 * Reads a result tree in JSON: as GitLab's step runner and this one write it, or in the shape of the blueprint of 2024, with
 * `def` and `spec` beside each other, outputs of `{key, value, masked}` and children in `children_step_results`
 * (conformance section 16.2).
 *
 * @throws {TraceError} TRACE_INVALID with the JSON pointer of what is wrong
 */
export function readResult(json: unknown): StepResultJson {
  if (!isObject(json)) throw new TraceError("TRACE_INVALID", "Cannot read result: an object is expected");
  const result = isBlueprint(json) ? convert(json, 0) : json;
  return readJsonMessage(StepResultSchema, result) as StepResultJson;
}

function isObject(json: unknown): json is Json {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function member(json: Json, ...names: readonly string[]): unknown {
  for (const name of names) if (Object.hasOwn(json, name)) return json[name];
  return undefined;
}

const CHILDREN = ["childrenStepResults", "children_step_results"];

/** Tells by members that only the blueprint's form has whether a tree is in that form. */
function isBlueprint(json: Json): boolean {
  if (member(json, "def", "exitCode", "exit_code", ...CHILDREN) !== undefined) return true;
  const { step, outputs } = json;
  if (isObject(step) && typeof step["step"] === "string") return true;
  const values = isObject(outputs) ? Object.values(outputs) : [];
  return values.length > 0 && json["specDefinition"] === undefined && values.every(isBlueprintOutput);
}

function isBlueprintOutput(value: unknown): boolean {
  if (!isObject(value) || typeof value["value"] !== "string") return false;
  return Object.keys(value).every((key) => ["key", "value", "masked"].includes(key));
}

function convert(json: Json, depth: number): Json {
  if (depth > MAX_DEPTH) throw new TraceError("TRACE_INVALID", "Cannot read result: it is nested too deeply");
  const { step, spec, def, status, outputs, exports } = json;
  const children = member(json, ...CHILDREN);
  const exitCode = member(json, "exitCode", "exit_code");
  return {
    ...(isObject(step) ? { step: convertStep(step) } : {}),
    ...(spec === undefined && def === undefined
      ? {}
      : { specDefinition: { spec: convertSpec(spec), definition: convertDefinition(def) } }),
    ...(status === undefined ? {} : { status }),
    ...(isObject(outputs) ? { outputs: mapObject(outputs, convertOutput) } : {}),
    ...(exports === undefined ? {} : { exports }),
    ...(exitCode === undefined ? {} : { execResult: { exitCode } }),
    ...(Array.isArray(children)
      ? { subStepResults: children.map((child) => (isObject(child) ? convert(child, depth + 1) : child)) }
      : {}),
  };
}

function convertOutput(value: unknown): unknown {
  if (!isObject(value)) return value;
  return value["masked"] === true ? MASK : (value["value"] ?? "");
}

// The blueprint's reference is one text.
function convertStep(step: Json): Json {
  const text = step["step"];
  if (typeof text !== "string") return step;
  const parsed = parseReference(text);
  return { ...step, step: isReferenceProblem(parsed) ? { url: text } : encodeReference(parsed) };
}

function convertDefinition(def: unknown): Json {
  if (!isObject(def)) return {};
  const { steps, type } = def;
  const isKnown = type === "exec" || type === "steps" || typeof type === "number";
  return {
    ...def,
    type: isKnown ? type : def["exec"] === undefined ? "steps" : "exec",
    ...(Array.isArray(steps) ? { steps: steps.map((step) => (isObject(step) ? convertStep(step) : step)) } : {}),
  };
}

const INPUT_TYPES = ["value_type_unspecified", "string", "number", "boolean", "struct", "array"];
const OLD_NAMES: Readonly<Record<string, string>> = { bool: "boolean", list: "array" };

function convertSpec(spec: unknown): Json {
  const content = isObject(spec) ? spec["spec"] : undefined;
  if (!isObject(content) || !isObject(content["inputs"])) return {};
  return { spec: { ...content, inputs: mapObject(content["inputs"], convertInput) } };
}

function convertInput(input: unknown): unknown {
  if (!isObject(input)) return input;
  const { type } = input;
  const name = typeof type === "number" ? INPUT_TYPES[type] : (OLD_NAMES[String(type)] ?? type);
  return { ...input, type: name === "spec_type_unspecified" ? INPUT_TYPES[0] : name };
}
