import type { JobHandle, JobSubmission, JobTable } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";
import { requireToken, TOKEN_HEADER, tokenDigestOf } from "./job-access.ts";

/** The state that the calls of both services share. */
export interface CallContext {
  readonly jobs: JobTable;
  /** The working directory of jobs that name none; absolute. */
  readonly workDir: string;
  /** A job without a token is refused. */
  readonly requiresToken: boolean;
}

/**
 * Gives a job to the table. One that is known already is only given to those who may use it.
 *
 * @throws {ServiceError} as the table's `run()`; TOKEN_MISSING, TOKEN_WRONG
 */
export function startJob(
  context: CallContext,
  submission: Omit<JobSubmission, "tokenDigest">,
  headers: Headers,
): JobHandle {
  const tokenDigest = assertMayRun(context, submission.id, headers);
  return context.jobs.run(tokenDigest === undefined ? submission : { ...submission, tokenDigest });
}

/**
 * Whether a caller may run a job under an id at all, before anything is read of its request.
 *
 * @throws {ServiceError} TOKEN_MISSING, TOKEN_WRONG
 */
export function assertMayRun(context: CallContext, id: string, headers: Headers): string | undefined {
  const tokenDigest = tokenDigestOf(headers);
  if (context.requiresToken && tokenDigest === undefined)
    throw new ServiceError("TOKEN_MISSING", "This service runs no job without a token", {
      hint: `Make one up for each job and send it as metadata ${TOKEN_HEADER}.`,
    });
  const known = context.jobs.get(id);
  if (known !== undefined) requireToken(known, headers);
  return tokenDigest;
}
