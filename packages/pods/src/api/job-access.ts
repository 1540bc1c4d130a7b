import type { BuildClaims, BuildScope, BuildTokenVerdict } from "@steps/pod-tokens";
import { tokenFingerprint, verifyBuildToken } from "@steps/pod-tokens";
import { HEADERS, tokensOf } from "@steps/runner-api";
import { HttpError } from "../http/http-error.ts";
import type { Exchange } from "../http/exchange.ts";
import { findJob, isInHand, type Job, type JobState } from "../jobs/job.ts";
import type { Pod } from "../pod/pod.ts";

/** The purpose of a call about a job. */
export interface AccessRequest {
  readonly jobId: number;
  readonly scope: BuildScope;
  /** The token of the body, for calls that may have it there. */
  readonly bodyToken?: string | undefined;
  /** An attempt that has ended may ask, too: its update may be the repetition of one that did arrive. */
  readonly allowsEnded?: boolean;
}

/** The job that the caller's token stands for. For artifacts it may be another one than the path names. */
export interface JobAccess {
  readonly job: Job;
  readonly token: string;
}

/**
 * Lets a runner to its job. Whoever has no token of this pod gets the same answer, whatever the job: 403, by which the runner
 * stops. Whoever has one for this job is told its state.
 */
export async function accessJob(pod: Pod, exchange: Exchange, request: AccessRequest): Promise<JobAccess> {
  const tokens = tokensOf(exchange.headers, { token: request.bodyToken });
  for (const token of tokens) {
    const verdict = judge(pod, token, request);
    const claims = verdict.accepted ? verdict.claims : await claimsByRow(pod, verdict, request);
    if (claims === undefined) continue;
    const job = await findJob(pod.database, claims.jobId);
    if (job === undefined) continue;
    if (job.attempt === claims.attempt && (isInHand(job.state) || request.allowsEnded === true)) return { job, token };
    throw stopped(pod, job, claims.attempt);
  }
  pod.metrics.add("tokens_refused_total", { kind: "job" });
  pod.settings.log("warning", "A token for a job was refused", {
    job: request.jobId,
    token: tokens[0] === undefined ? "none" : tokenFingerprint(tokens[0]),
  });
  throw forbidden("failed");
}

/** The attempt that a token in the headers is for, if it is good for the call as far as can be known without looking at the job. */
export function claimedAttempt(pod: Pod, exchange: Exchange, request: AccessRequest): number | undefined {
  const [token = "", ...others] = tokensOf(exchange.headers);
  const verdict = others.length > 0 ? undefined : judge(pod, token, request);
  return verdict?.accepted === true ? verdict.claims.attempt : undefined;
}

/**
 * Judges whether this pod made a token for what is asked. Its time is for those who cannot look at its job: here the job ends before
 * its token does, and a clock that was set meanwhile must not stop the jobs that run.
 */
function judge(pod: Pod, token: string, { scope, jobId }: AccessRequest): BuildTokenVerdict {
  const { keys, issuer, settings, knownTokens: known } = pod;
  const use = { keys: keys.verify, issuer, pod: settings.pod, scope, jobId, known };
  const verdict = verifyBuildToken(token, { ...use, now: Date.now() / 1000 });
  if (verdict.accepted || verdict.refusal !== "time" || verdict.claims === undefined) return verdict;
  return verifyBuildToken(token, { ...use, now: verdict.claims.expiresAt - 1 });
}

/** The claims of a token whose job gets artifacts of more jobs than a token names, if that of the path is one of them. */
async function claimsByRow(
  { database }: Pod,
  verdict: BuildTokenVerdict & { readonly accepted: false },
  { scope, jobId }: AccessRequest,
): Promise<BuildClaims | undefined> {
  const { refusal, claims } = verdict;
  if (scope !== "artifacts:read" || refusal !== "job" || claims === undefined || claims.dependencies.length > 0)
    return undefined;
  const rows = await database.query("SELECT FROM jobs WHERE id = $1 AND bound -> 'dependencies' @> $2::jsonb", [
    claims.jobId,
    JSON.stringify([{ id: jobId }]),
  ]);
  return rows.length > 0 ? claims : undefined;
}

function stopped(pod: Pod, job: Job, attempt: number): HttpError {
  if (job.attempt === attempt && job.state !== "pending") return forbidden(job.state);
  pod.metrics.add("attempts_superseded_total");
  pod.settings.log("info", "A runner whose attempt does not count any more was stopped", { job: job.id, attempt });
  return forbidden("canceled");
}

/** The answer that makes a runner stop. */
export function forbidden(state: JobState): HttpError {
  return new HttpError(403, "403 Forbidden", { [HEADERS.jobStatus]: state });
}
