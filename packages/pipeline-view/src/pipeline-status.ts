import { exitCodeOf } from "@steps/model";
import { JOB_EXITS } from "@steps/model/exit-codes";
import type { JobResult, JobResults } from "@steps/model/pipeline";

/** The result of a pipeline, of those of its jobs. */
export function statusOf(results: JobResults): JobResult["status"] {
  const ended = [...results.values()];
  if (ended.some(isRealFailure)) return "failure";
  return ended.some(({ status }) => status === "cancelled") ? "cancelled" : "success";
}

/** The exit code of a pipeline: that of the first job that failed. @param signal the name of the signal that cancelled it */
export function pipelineExitCode(results: JobResults, signal: string | undefined): number {
  const status = statusOf(results);
  if (status === "success") return JOB_EXITS.success.code;
  // Whoever interrupts a pipeline wants to know that, rather than what became of its jobs.
  if (signal !== undefined || status === "cancelled") return exitCodeOf({ status: "cancelled", signal });
  return [...results.values()].find(isRealFailure)?.exitCode ?? JOB_EXITS.other.code;
}

function isRealFailure({ status, isAllowedToFail }: JobResult): boolean {
  return status === "failure" && isAllowedToFail !== true;
}
