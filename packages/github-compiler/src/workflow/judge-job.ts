import type { YamlNode } from "@steps/source";
import { type Contexts, evaluateCondition, GithubExpressionError } from "@steps/github-language";
import type { Value } from "@steps/model";
import { UNKNOWN_NEEDS } from "../reading/evaluate.ts";
import type { Reading } from "../reading/reading.ts";

/** Whether a job would run. */
export interface JobVerdict {
  readonly holds: boolean;
  /** When true, the condition depends on jobs that were not run, or on something that has no value here. */
  readonly isUnknown: boolean;
  /** The part of the condition that decided; empty without a condition. */
  readonly explanation: string;
}

const ALWAYS: JobVerdict = { holds: true, isUnknown: false, explanation: "" };
const UNKNOWN: JobVerdict = { ...ALWAYS, isUnknown: true };

/** Evaluates the condition of a job as if the jobs before it had succeeded. Adds a note for one that can never hold. */
export function judgeJob(
  reading: Reading,
  job: { readonly node: YamlNode | undefined; readonly condition: string | undefined; readonly contexts: Contexts },
): JobVerdict {
  const { node, condition, contexts } = job;
  if (condition === undefined || reading.report.hasErrors) return ALWAYS;
  const asked = new Set<string>();
  const seen = Object.entries(contexts).map(([name, value]) => {
    const ask = (): Value => {
      asked.add(name);
      return (typeof value === "function" ? value() : value) ?? null;
    };
    return [name, ask] as const;
  });
  try {
    const status = { isSuccess: true, isFailure: false, isCancelled: false };
    const { holds, explanation } = evaluateCondition(condition, { contexts: Object.fromEntries(seen), status });
    if (asked.has("needs") && contexts["needs"] === UNKNOWN_NEEDS) return UNKNOWN;
    if (!holds && asked.size === 0 && !/\b(?:failure|cancelled)\s*\(/i.test(condition)) {
      const message = `The condition of the job never holds, so it is never run`;
      reading.report.note(node, { code: "never-runs", message });
    }
    return { holds, isUnknown: false, explanation };
  } catch (error) {
    if (!(error instanceof GithubExpressionError)) throw error;
    return UNKNOWN;
  }
}
