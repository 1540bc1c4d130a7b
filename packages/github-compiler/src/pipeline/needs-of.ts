import type { StatusFacts } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";
import { isPassed, type JobResult, type JobResults } from "@steps/pipeline";

/**
 * The context `needs`: the result and the outputs of each job that is named in `needs`. A failure that was allowed is told as a
 * success, as GitHub does.
 */
export function needsContext(needs: readonly string[], results: JobResults): Record<string, Value> {
  return createObject(
    needs.map((id): [string, Value] => {
      const result = results.get(id) ?? { status: "skipped" };
      return [id, { result: isPassed(result) ? "success" : result.status, outputs: { ...result.outputs } }];
    }),
  );
}

/**
 * The answers of `success()`, `failure()` and `cancelled()` in the condition of a job. They look at all jobs before it,
 * not only at those that it names.
 */
export function statusOf(ancestors: Iterable<string>, results: JobResults, isCancelled: boolean): StatusFacts {
  const found = [...ancestors].flatMap((id): JobResult[] => {
    const result = results.get(id);
    return result === undefined ? [] : [result];
  });
  return {
    isSuccess: !isCancelled && found.every(isPassed),
    isFailure: found.some((result) => result.status === "failure" && !isPassed(result)),
    isCancelled,
  };
}

/** The ids of all jobs before each job, directly or not. The graph has no circle. */
export function ancestorsOf(needs: ReadonlyMap<string, readonly string[]>): (id: string) => ReadonlySet<string> {
  return (id) => {
    const found = new Set<string>();
    const open = [id];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const need of needs.get(next) ?? []) {
        if (!found.has(need)) open.push(need);
        found.add(need);
      }
    }
    return found;
  };
}
