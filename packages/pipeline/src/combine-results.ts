import type { JobResult } from "@steps/model/pipeline";

/**
 * The result of a job with several instances: `failure` if one failed that was not allowed to, else `cancelled` if one was, else
 * `skipped` if all were, else `success`. A failure that was allowed stays visible where nothing worse happened. Of outputs
 * with the same name the last that is not empty counts, as for the matrix of a GitHub job.
 */
export function combineResults(results: readonly JobResult[]): JobResult {
  if (results.length === 1) return results[0] as JobResult;
  const worst =
    results.find(({ status, isAllowedToFail }) => status === "failure" && isAllowedToFail !== true) ??
    results.find(({ status }) => status === "cancelled") ??
    results.find(({ status }) => status === "failure") ??
    (results.every(({ status }) => status === "skipped") ? results[0] : undefined);
  const outputs: Record<string, string> = {};
  for (const result of results) {
    for (const [name, value] of Object.entries(result.outputs ?? {})) if (value !== "") outputs[name] = value;
  }
  return { status: "success", ...worst, outputs };
}

/** Whether those that need a job may go on as after a success. */
export function isPassed({ status, isAllowedToFail }: JobResult): boolean {
  return status === "success" || (status === "failure" && isAllowedToFail === true);
}
