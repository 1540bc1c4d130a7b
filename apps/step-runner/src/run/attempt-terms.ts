import { isAllowedToFail, isRetried, type JobTerms } from "@steps/gitlab-ci/pipeline";
import type { Outcome } from "@steps/model";
import { loadPatterns } from "@steps/model/pattern";
import { CoverageReader } from "./coverage.ts";

/** The terms on which a job is tried, and what its end means. */
export interface AttemptTerms {
  /** Whether the job is tried again after an attempt, whose number is from 1. */
  readonly isRetried: (outcome: Outcome, attempt: number) => boolean;
  readonly isAllowedToFail: (outcome: Outcome) => boolean;
  /** Makes the reader of one attempt's output. Default: no coverage is read. */
  readonly createCoverage?: (() => CoverageReader) | undefined;
}

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
