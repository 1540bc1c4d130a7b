import { isAllowedToFail, isRetried, type JobTerms } from "@steps/gitlab-ci/pipeline";
import { loadPatterns } from "@steps/model/pattern";
import { CoverageReader } from "./coverage.ts";
import type { AttemptTerms } from "./run-job.ts";

/** The terms of a job of a `.gitlab-ci.yml`. @throws {PatternError} for a pattern of `coverage` that RE2 refuses */
export async function attemptTerms({
  retry,
  allowFailure,
  coverage,
}: Pick<JobTerms, "retry" | "allowFailure" | "coverage">): Promise<AttemptTerms> {
  const pattern = coverage && (await loadPatterns())(coverage.body, coverage.flags);
  return {
    isRetried: (outcome, attempt) => isRetried(retry, outcome, attempt),
    isAllowedToFail: (outcome) => isAllowedToFail(allowFailure, outcome),
    createCoverage: pattern && (() => new CoverageReader(pattern)),
  };
}
