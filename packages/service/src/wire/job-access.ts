import { timingSafeEqual } from "node:crypto";
import { sha256 } from "@steps/platform";
import type { JobHandle, JobTable } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";

/** The metadata that carries a job's token: given with Run it pins the job to whoever knows it. */
export const TOKEN_HEADER = "step-runner-job-token";

/** SHA-256 of the token that a call carries, if it carries one. */
export function tokenDigestOf(headers: Headers): string | undefined {
  const token = headers.get(TOKEN_HEADER);
  return token === null || token === "" ? undefined : sha256(token);
}

/** Whether a caller may follow, cancel and close a job: it has no token, or the caller knows it. */
export function mayUse(job: JobHandle, headers: Headers): boolean {
  const { tokenDigest } = job.info;
  if (tokenDigest === undefined) return true;
  const given = tokenDigestOf(headers);
  return given !== undefined && isSame(given, tokenDigest);
}

/**
 * The job that a call names.
 *
 * @throws {ServiceError} REQUEST_INVALID without an id, JOB_NOT_FOUND, TOKEN_MISSING, TOKEN_WRONG
 */
export function requireJob(jobs: JobTable, id: string, headers: Headers): JobHandle {
  if (id === "") throw new ServiceError("REQUEST_INVALID", "id: the id of a job is missing");
  const job = jobs.get(id);
  if (job === undefined) throw new ServiceError("JOB_NOT_FOUND", `There is no job "${id.slice(0, 256)}"`);
  requireToken(job, headers);
  return job;
}

/** @throws {ServiceError} TOKEN_MISSING, TOKEN_WRONG for a job that has another token */
export function requireToken(job: JobHandle, headers: Headers): void {
  if (mayUse(job, headers)) return;
  if (tokenDigestOf(headers) === undefined)
    throw new ServiceError("TOKEN_MISSING", `Job "${job.id}" has a token, and the call has none`, {
      hint: `Send the one that the job was run with as metadata ${TOKEN_HEADER}; runner-bridge has --token.`,
    });
  throw new ServiceError("TOKEN_WRONG", `The token is not that of job "${job.id}"`);
}

// Both are hex digits of one length: what differs is not told by the time that it takes.
function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
