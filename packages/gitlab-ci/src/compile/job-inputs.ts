import { createObject, type Value, type ValueType } from "@steps/model";
import type { InputSpec } from "@steps/model/definition";
import { quote } from "@steps/model/diagnostic";
import { childOf, type YamlNode } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";
import { toCiValue } from "../load/ci-value.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { isMapping, stringOf } from "../load/nodes.ts";

/**
 * Reads `inputs` of a job as inputs of the definition that it becomes
 * ([inputs](https://docs.gitlab.com/ci/inputs/)). Values are checked against types, options and patterns when the job runs; what
 * is wrong with the declarations is reported.
 */
export function readJobInputs(job: LoadedJob, report: CiReport): Readonly<Record<string, InputSpec>> {
  const inputs = createObject<InputSpec>();
  const node = job.keywords.get("inputs")?.value;
  for (const [name, { key, value }] of isMapping(node) ? node.entries : []) {
    if (/^[A-Za-z0-9_-]+$/.test(name)) inputs[name] = readInput(name, value, report);
    else report.error(key, { code: "invalid-name", message: `${quote(name)} cannot be the name of an input` });
  }
  return inputs;
}

const TYPES: readonly ValueType[] = ["string", "number", "boolean", "array"];

function readInput(name: string, node: YamlNode, report: CiReport): InputSpec {
  const type = TYPES.find((known) => known === stringOf(childOf(node, "type"))) ?? "string";
  const fallback = childOf(node, "default");
  const value = fallback && toCiValue(fallback);
  if (fallback !== undefined && value !== undefined && !isOfType(value, type)) {
    report.error(fallback, {
      code: "wrong-type",
      message: `The default of the input ${quote(name)} is no ${type}`,
    });
  }
  const options = childOf(node, "options");
  const values = options === undefined ? undefined : toCiValue(options);
  const match = stringOf(childOf(node, "regex"));
  const description = stringOf(childOf(node, "description"));
  if (fallback !== undefined && Array.isArray(values) && !values.includes(value ?? null)) {
    report.error(fallback, {
      code: "invalid-value",
      message: `The default of the input ${quote(name)} is not one of its options`,
    });
  }
  return {
    type,
    ...(value === undefined ? {} : { default: value }),
    isSensitive: false,
    ...(Array.isArray(values) ? { options: values } : {}),
    ...(match === undefined ? {} : { match }),
    ...(description === undefined ? {} : { description }),
  };
}

function isOfType(value: Value, type: ValueType): boolean {
  return type === "array" ? Array.isArray(value) : typeof value === type;
}
