import type { Message } from "@steps/runner-api";
import {
  anything,
  count,
  flag,
  integer,
  list,
  messageOf,
  number,
  optional,
  record,
  text,
} from "@steps/runner-api/shape";

/** The part of an offer that decides which runners may take the job. */
interface OfferTerms {
  readonly project_id: number;
  readonly tags: readonly string[];
  readonly protected: boolean;
  readonly features: readonly string[];
  /** The time in seconds for which the job has waited. Times of day are not compared between machines. */
  readonly age: number;
}

/** The state of one job as its pod tells it: pending with terms, in the hands of a runner of the daemon, or neither. */
export interface JobNews {
  readonly id: number;
  /** How often the job was given to a runner so far. */
  readonly attempt: number;
  /** The terms on which the job is offered: it is pending. */
  readonly offer?: OfferTerms | undefined;
  /** The runner of the daemon that has the job, and its project. */
  readonly held?: { readonly runner_id: number; readonly project_id: number } | undefined;
}

/**
 * One batch of news. A session begins with all that is offered and goes on with what changes; its batches are numbered from 1, and the
 * daemon takes each of them once and in order.
 */
export interface NewsBatch {
  readonly pod: number;
  readonly session: string;
  readonly batch: number;
  /** The last batch of those with which the session begins. */
  readonly completes?: boolean | undefined;
  readonly jobs: readonly JobNews[];
}

/** The facts about a runner of the daemon, and the calls that it makes to its pod. */
export interface ClaimRequest {
  readonly job_id: number;
  /** The attempt of the offer: another one is another offer. */
  readonly attempt: number;
  /** The same when the request is repeated because its answer was lost. */
  readonly claim_id: string;
  readonly runner: ClaimingRunner;
  readonly manager_id: number;
  /** The runner confirms a job before it starts. */
  readonly confirms: boolean;
  readonly cancels_gracefully: boolean;
  readonly features: readonly string[];
}

/** The runner on whose behalf a daemon claims a job. */
interface ClaimingRunner {
  readonly id: number;
  readonly description: string;
  readonly tags: readonly string[];
  readonly run_untagged: boolean;
  readonly protected: boolean;
  readonly maximum_timeout?: number | undefined;
}

/** The pod's answer to a claim: the job for its runner, or nothing when the offer does not hold any more. */
export interface ClaimAnswer {
  readonly job_id: number;
  /** The attempt that the job has now. */
  readonly attempt?: number | undefined;
  readonly project_id?: number | undefined;
  /** As the runner gets it. */
  readonly payload?: unknown;
}

const texts = list(text);

/** `POST /internal/v1/offers`, from a pod to its daemon. */
export const NEWS_BATCH: Message<NewsBatch> = messageOf(
  record<NewsBatch>({
    pod: count,
    session: text,
    batch: count,
    completes: optional(flag),
    jobs: list(
      record<JobNews>({
        id: count,
        attempt: count,
        offer: optional(
          record<OfferTerms>({ project_id: count, tags: texts, protected: flag, features: texts, age: number }),
        ),
        held: optional(record<NonNullable<JobNews["held"]>>({ runner_id: count, project_id: count })),
      }),
    ),
  }),
  16 * 1024 * 1024,
);

/** `POST /internal/v1/claims`, from a daemon to a pod. */
export const CLAIM_REQUESTS: Message<{ readonly claims: readonly ClaimRequest[] }> = messageOf(
  record<{ readonly claims: readonly ClaimRequest[] }>({
    claims: list(
      record<ClaimRequest>({
        job_id: count,
        attempt: count,
        claim_id: text,
        runner: record<ClaimingRunner>({
          id: count,
          description: text,
          tags: texts,
          run_untagged: flag,
          protected: flag,
          maximum_timeout: optional(integer),
        }),
        manager_id: count,
        confirms: flag,
        cancels_gracefully: flag,
        features: texts,
      }),
    ),
  }),
  1024 * 1024,
);

/** The answer to it. */
export const CLAIM_ANSWERS: Message<{ readonly claims: readonly ClaimAnswer[] }> = messageOf(
  record<{ readonly claims: readonly ClaimAnswer[] }>({
    claims: list(
      record<ClaimAnswer>({
        job_id: count,
        attempt: optional(count),
        project_id: optional(count),
        payload: optional(anything),
      }),
    ),
  }),
  256 * 1024 * 1024,
);
