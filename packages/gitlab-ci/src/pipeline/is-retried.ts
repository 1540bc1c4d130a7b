import type { Outcome } from "@steps/model";
import type { RetryTerms } from "../compile/job-terms.ts";
import type { AllowFailure } from "../rules/rule.ts";

/** Why a job failed, in the words of [retry:when](https://docs.gitlab.com/ci/yaml/#retrywhen): those that can be true on one machine. */
export type FailureReason = "script_failure" | "job_execution_timeout" | "runner_system_failure";

/**
 * Whether a job is tried again after an attempt ([retry](https://docs.gitlab.com/ci/yaml/#retry)): for its reason or for its exit
 * code, as long as attempts are left.
 *
 * @param retry - Absent for a job that is tried once.
 * @param attempt - The number of the attempt that ended, from 1.
 */
export function isRetried(retry: RetryTerms | undefined, outcome: Outcome, attempt: number): boolean {
  const reason = failureReason(outcome);
  if (retry === undefined || reason === undefined || attempt > retry.max) return false;
  const isExitCode = outcome.exitCode !== undefined && retry.exitCodes.includes(outcome.exitCode);
  return isExitCode || retry.when.includes("always") || retry.when.includes(reason);
}

/** Why a job failed; `undefined` for one that did not. */
export function failureReason({ status, exitCode, signal, error }: Outcome): FailureReason | undefined {
  if (status === "timeout") return "job_execution_timeout";
  if (status !== "failure" && status !== "error") return undefined;
  const isScript = exitCode !== undefined || signal !== undefined || error?.code === "EXIT_STATUS";
  return isScript ? "script_failure" : "runner_system_failure";
}

/** Whether the pipeline passes although a job ended so ([allow_failure](https://docs.gitlab.com/ci/yaml/#allow_failure)). */
export function isAllowedToFail(allowed: AllowFailure, { exitCode }: Outcome): boolean {
  if (typeof allowed === "boolean") return allowed;
  return exitCode !== undefined && allowed.exitCodes.includes(exitCode);
}
