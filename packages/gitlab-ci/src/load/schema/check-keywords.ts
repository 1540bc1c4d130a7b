import { quote } from "@steps/model/diagnostic";
import type { YamlMapping } from "@steps/source";
import { reportUnknownKey, type ShapeChecker } from "./check-shape.ts";
import { isNull } from "../nodes.ts";
import { JOB_SHAPES, ROOT_SHAPES } from "./keyword-shapes.ts";

/** Reports what is wrong with the keywords at the top of a configuration. */
export function checkRoot(root: YamlMapping, checker: ShapeChecker): void {
  for (const [keyword, shape] of Object.entries(ROOT_SHAPES)) {
    const entry = root.entries.get(keyword);
    if (entry !== undefined) checker.check(entry.value, shape, keyword);
  }
}

/** Keywords of a job that exclude one another. */
const EXCLUSIVE: readonly (readonly [string, string])[] = [
  ["run", "script"],
  ["run", "before_script"],
  ["run", "after_script"],
  ["trigger", "script"],
  ["trigger", "run"],
  ["rules", "only"],
  ["rules", "except"],
];

/** Reports keywords of a job that are unknown, exclude one another, or have values that they do not take. */
export function checkJob(name: string, job: YamlMapping, checker: ShapeChecker): void {
  const { report } = checker;
  for (const [keyword, { key, value }] of job.entries) {
    const shape = Object.hasOwn(JOB_SHAPES, keyword) ? JOB_SHAPES[keyword] : undefined;
    if (shape !== undefined) checker.check(value, shape, keyword);
    else reportUnknownKey(key, { owner: `The job ${quote(name)}`, key: keyword, known: KNOWN }, report);
  }
  for (const [keyword, other] of EXCLUSIVE) {
    const entry = isThere(job, keyword) && isThere(job, other) ? job.entries.get(other) : undefined;
    if (entry === undefined) continue;
    report.error(entry.key, {
      code: "conflicting-keys",
      message: `"${other}" cannot stand beside "${keyword}"`,
    });
  }
}

const KNOWN: readonly string[] = Object.keys(JOB_SHAPES);

function isThere(job: YamlMapping, keyword: string): boolean {
  const value = job.entries.get(keyword)?.value;
  return value !== undefined && !isNull(value);
}
