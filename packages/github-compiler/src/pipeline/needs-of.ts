import type { StatusFacts } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";
import { isPassed, type JobResults } from "@steps/pipeline";

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

type Status = Omit<StatusFacts, "isCancelled">;

/**
 * The answers of `success()`, `failure()` and `cancelled()` in the condition of a job. They look at all jobs before it, not only at
 * those that it names. The function is to be asked once for each job, after it was asked for those that the job needs.
 */
export function statusOfJobs(
  needs: ReadonlyMap<string, readonly string[]>,
): (id: string, results: JobResults, isCancelled: boolean) => StatusFacts {
  const known = new Map<string, Status>();
  return (id, results, isCancelled) => {
    const before = (needs.get(id) ?? []).flatMap((need): Status[] => {
      const result = results.get(need);
      const own = result && {
        isSuccess: isPassed(result),
        isFailure: result.status === "failure" && !isPassed(result),
      };
      return [own, known.get(need)].filter((one) => one !== undefined);
    });
    const status = {
      isSuccess: before.every(({ isSuccess }) => isSuccess),
      isFailure: before.some(({ isFailure }) => isFailure),
    };
    known.set(id, status);
    return { isSuccess: status.isSuccess && !isCancelled, isFailure: status.isFailure, isCancelled };
  };
}
