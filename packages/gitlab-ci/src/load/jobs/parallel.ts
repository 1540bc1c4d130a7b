import { NAME_PATTERN } from "@steps/model/definition";
import { quote } from "@steps/model/diagnostic";
import type { YamlMapping, YamlNode } from "@steps/source";
import { readPsychScalar } from "../../psych.ts";
import { toCiText, toCiValue } from "../ci-value.ts";
import type { CiReport } from "../../ci-rules.ts";
import type { JobInstance } from "../loaded-pipeline.ts";
import { isList, isMapping, isNull } from "../nodes.ts";

/** GitLab's limit for a number, and for the combinations of a matrix. */
const MAX_INSTANCES = 200;

/** An instance with the name of its job. */
export interface NamedInstance extends JobInstance {
  readonly name: string;
}

/** The instances of a job with `parallel`; `undefined` when it is malformed, which was reported. */
export function readParallel(job: string, node: YamlNode, report: CiReport): readonly NamedInstance[] | undefined {
  if (isMapping(node)) return readMatrix(job, node, report);
  const { kind, text } = node.kind === "scalar" ? readPsychScalar(node) : { kind: "list", text: "" };
  const total = Number(text);
  if (kind !== "integer" || total < 1 || total > MAX_INSTANCES) {
    return wrong(node, `"parallel" is a number from 1 to ${MAX_INSTANCES}, or a mapping with "matrix"`, report);
  }
  return Array.from({ length: total }, (_, index) => ({
    name: `${job} ${index + 1}/${total}`,
    index: index + 1,
    total,
    variables: new Map(),
  }));
}

type Combination = ReadonlyMap<string, YamlNode>;

function readMatrix(job: string, node: YamlMapping, report: CiReport): readonly NamedInstance[] | undefined {
  const matrix = node.entries.get("matrix")?.value;
  if (!isList(matrix) || matrix.items.length === 0) {
    return wrong(matrix ?? node, `"matrix" is a list of mappings of variables and values`, report);
  }
  const combinations: Combination[] = [];
  for (const item of matrix.items) {
    const found = readCombinations(item, report);
    if (found === undefined) return undefined;
    combinations.push(...found);
    if (combinations.length > MAX_INSTANCES) {
      return wrong(matrix, `"matrix" has more than ${MAX_INSTANCES} combinations`, report);
    }
  }
  const total = combinations.length;
  return combinations.map((variables, index) => ({
    name: `${job}: [${nameOf(variables)}]`,
    index: index + 1,
    total,
    variables,
  }));
}

function nameOf(variables: Combination): string {
  const texts = [...variables.values()].filter((value) => !isNull(value));
  return texts.map((value) => toCiText(toCiValue(value), value)).join(", ");
}

function readCombinations(node: YamlNode, report: CiReport): readonly Combination[] | undefined {
  if (!isMapping(node) || node.entries.size === 0) {
    return wrong(node, `An item of "matrix" is a mapping of variables and values`, report);
  }
  let combinations: readonly Combination[] = [new Map()];
  for (const [name, { key, value }] of node.entries) {
    if (!NAME_PATTERN.test(name)) return wrong(key, `${quote(name)} cannot be the name of a variable`, report);
    const values = valuesOf(value);
    if (values === undefined) {
      return wrong(value, `${quote(name)} of "matrix" is a text, a number, or a list of them`, report);
    }
    if (combinations.length * values.length > MAX_INSTANCES) {
      return wrong(node, `"matrix" has more than ${MAX_INSTANCES} combinations`, report);
    }
    combinations = combinations.flatMap((before) => values.map((one) => new Map([...before, [name, one]])));
  }
  return combinations;
}

function valuesOf(node: YamlNode): readonly YamlNode[] | undefined {
  // A reference in a list is a list by now.
  const values = isList(node) ? node.items.flatMap((item) => (isList(item) ? item.items : [item])) : [node];
  return values.length > 0 && values.every((value) => value.kind === "scalar") ? values : undefined;
}

function wrong(at: YamlNode, message: string, report: CiReport): undefined {
  report.error(at, { code: "invalid-parallel", message });
}
