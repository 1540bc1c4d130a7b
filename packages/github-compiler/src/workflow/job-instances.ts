import { type Contexts, hasExpression, toText } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";
import { evaluateAt } from "../reading/evaluate.ts";
import type { Reading } from "../reading/reading.ts";
import { templateOf } from "../reading/templates.ts";
import { instanceName, type MatrixValues } from "./matrix.ts";
import { readStrategy } from "./read-strategy.ts";
import type { JobEntry } from "./workflow-file.ts";

/** One job as it would run: a combination of the matrix, or the job itself if it has none. */
export interface JobInstance {
  readonly jobId: string;
  /** As GitHub shows it: `test (ubuntu, 20)`. */
  readonly name: string;
  /** The same made from the id: what it is called if it has a name of its own. */
  readonly plainName: string;
  /** `undefined`: the job has no matrix. */
  readonly matrix: MatrixValues | undefined;
  /** The context `strategy`. */
  readonly strategy: Readonly<Record<string, Value>>;
}

/** The instances of a job in GitHub's order. `undefined`: the matrix or the name is malformed, which was reported. */
export function readInstances(
  reading: Reading,
  { id, value }: JobEntry,
  contexts: Contexts,
): readonly JobInstance[] | undefined {
  const strategy = readStrategy(reading, value.entries.get("strategy")?.value, contexts);
  if (strategy === undefined) return undefined;
  const nameNode = value.entries.get("name")?.value;
  const template =
    nameNode === undefined ? undefined : templateOf(reading, nameNode, { what: `"name" of the job`, at: "job-name" });
  const combinations = strategy.instances ?? [undefined];
  const instances: JobInstance[] = [];
  for (const [index, combination] of combinations.entries()) {
    const facts = createObject<Value>([
      ["fail-fast", strategy.failFast],
      ["job-index", index],
      ["job-total", combinations.length],
      ["max-parallel", strategy.maxParallel ?? combinations.length],
    ]);
    const matrix = combination?.values;
    const segments = combination?.segments ?? [];
    const plainName = instanceName(id, segments);
    let name = template ? instanceName(template, segments) : plainName;
    // A name that is evaluated says itself which instance it is.
    if (template !== undefined && nameNode !== undefined && hasExpression(template)) {
      const evaluated = evaluateAt(reading, nameNode, {
        text: template,
        contexts: { ...contexts, strategy: facts, matrix: matrix ?? null },
      });
      if (evaluated === undefined && reading.report.hasErrors) return undefined;
      if (evaluated !== undefined) name = instanceName(toText(evaluated), []) || plainName;
    }
    instances.push({ jobId: id, name, plainName, matrix, strategy: facts });
  }
  return instances;
}
