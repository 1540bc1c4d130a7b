import { childOf, type YamlNode } from "@steps/source";
import type { Contexts } from "@steps/github-language";
import type { Value } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { evaluateTree } from "../reading/evaluate.ts";
import { reportUnknownKey } from "../reading/mapping.ts";
import type { Reading } from "../reading/reading.ts";
import { countCombinations, expandMatrix, type Matrix, type MatrixInstance, type MatrixValues } from "./matrix.ts";

/** GitHub's limit of jobs. */
const MAX_INSTANCES = 256;
/** The limit of comparisons: combinations times filters. */
const MAX_COMPARISONS = 200_000;

/** `strategy` of a job, evaluated. */
export interface Strategy {
  readonly failFast: boolean;
  readonly maxParallel: number | undefined;
  /** `undefined`: no matrix, one job. */
  readonly instances: readonly MatrixInstance[] | undefined;
}

const KEYS = ["fail-fast", "max-parallel", "matrix"];

/** Reads `strategy`. `undefined`: it is malformed, which was reported. */
export function readStrategy(reading: Reading, node: YamlNode | undefined, contexts: Contexts): Strategy | undefined {
  if (node === undefined) return { failFast: true, maxParallel: undefined, instances: undefined };
  if (node.kind === "mapping") {
    for (const [name, { key }] of node.entries) {
      if (!KEYS.includes(name)) reportUnknownKey(reading, { name, key, what: `"strategy"` }, { known: KEYS });
    }
  }
  const value = evaluateTree(reading, node, { what: `"strategy"`, at: "job-strategy", contexts });
  if (value === undefined) return reading.report.hasErrors ? undefined : readStrategy(reading, undefined, contexts);
  if (!isObject(value)) {
    reading.report.error(node, { code: "invalid-matrix", message: `"strategy" must be a mapping` });
    return undefined;
  }
  const parallel = value["max-parallel"];
  const base = {
    failFast: value["fail-fast"] !== false,
    maxParallel: typeof parallel === "number" ? parallel : undefined,
  };
  const { matrix } = value;
  if (matrix === undefined) return { ...base, instances: undefined };
  const instances = readMatrix(reading, childOf(node, "matrix") ?? node, matrix);
  return instances === undefined ? undefined : { ...base, instances };
}

function isObject(value: Value | undefined): value is Record<string, Value> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readMatrix(reading: Reading, node: YamlNode, value: Value): readonly MatrixInstance[] | undefined {
  const fail = (at: YamlNode | undefined, message: string): undefined => {
    reading.report.error(at ?? node, { code: "invalid-matrix", message });
  };
  if (!isObject(value)) return fail(node, `"matrix" must be a mapping of names to lists`);
  const vectors: (readonly [string, readonly Value[]])[] = [];
  for (const [name, items] of Object.entries(value)) {
    if (name === "include" || name === "exclude") continue;
    const at = childOf(node, name);
    if (!Array.isArray(items)) return fail(at, `${quote(name)} of the matrix must be a list of values`);
    if (items.length === 0) return fail(at, `${quote(name)} of the matrix has no values`);
    vectors.push([name, items]);
  }
  const include = readFilters(value["include"]);
  const exclude = readFilters(value["exclude"]);
  if (typeof include === "string") return fail(childOf(node, "include"), `"include" ${include}`);
  if (typeof exclude === "string") return fail(childOf(node, "exclude"), `"exclude" ${exclude}`);
  const stray = strayExclude(vectors, exclude);
  if (stray !== undefined) return fail(childOf(node, "exclude"), `"exclude" names ${quote(stray)}, which no list has`);
  const count = countCombinations(vectors);
  if (count * (1 + include.length + exclude.length) > MAX_COMPARISONS) {
    return fail(node, `The matrix has too many combinations: ${count}`);
  }
  return countInstances({ vectors, include, exclude }, (message) => fail(node, message));
}

function countInstances(matrix: Matrix, fail: (message: string) => undefined): readonly MatrixInstance[] | undefined {
  const instances: MatrixInstance[] = [];
  for (const instance of expandMatrix(matrix)) {
    instances.push(instance);
    if (instances.length > MAX_INSTANCES) return fail(`The matrix gives more than ${MAX_INSTANCES} jobs`);
  }
  return instances.length === 0 ? fail("The matrix gives no job at all") : instances;
}

// The text says what is wrong with them.
function readFilters(value: Value | undefined): readonly MatrixValues[] | string {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return "must be a list of mappings";
  const filters = value.filter(isObject);
  if (filters.length < value.length) return "must be a list of mappings";
  return filters.some((filter) => Object.keys(filter).length === 0) ? "has an empty mapping" : filters;
}

function strayExclude(vectors: Matrix["vectors"], exclude: readonly MatrixValues[]): string | undefined {
  const names = new Set(vectors.map(([name]) => name.toLowerCase()));
  return exclude.flatMap((filter) => Object.keys(filter)).find((name) => !names.has(name.toLowerCase()));
}
