import type { RunRequest } from "@steps/proto/service";
import { toClientError } from "./classify.ts";
import { ClientError } from "./client-error.ts";
import type { Dial } from "./dial.ts";
import type { FollowOptions, JobOutcome } from "./follow-options.ts";
import { followToEnd } from "./follow-to-end.ts";
import { createJobToken, type JobRequest, toRunRequest } from "./job-request.ts";
import { Link } from "./link.ts";

const RECONNECT_WINDOW_MS = 300_000;
const CONNECT_WINDOW_MS = 10_000;
/** What the service is given to acknowledge, or to take back, a job that was cancelled while it was being started. */
const WITHDRAW_WINDOW_MS = 5_000;
/** What the last word to the service is given when nobody waits any more. */
const LEAVE_WINDOW_MS = 1_000;

/**
 * Runs a job on a service and follows it to its end, over as many connections as it takes. The job is started once: a
 * request that may have arrived is sent again with the same id and nonce, by which the service knows it. Each byte of output
 * is given once.
 *
 * The first abort of `signal` cancels the job and follows it to its end; `hurry` closes it and leaves. A sink that throws ends
 * the call with its error; the job goes on, and `followJob()` takes it up again.
 *
 * @throws {ClientError}, what the first dial threw if it is permanent, or what the caller's own functions throw
 */
export async function runAndFollow(dial: Dial, request: JobRequest, options: FollowOptions = {}): Promise<JobOutcome> {
  const message = toRunRequest(request);
  const job: JobState = { id: message.id, isSent: false, isStarted: false };
  const withToken = { ...options, token: options.token ?? createJobToken() };
  return withLink(dial, job, withToken, async (link) => {
    await start(link, { job, message }, options);
    return followToEnd(link, job.id, withToken);
  });
}

/** Starts a job and leaves it to the service. @throws as {@link runAndFollow} does */
export async function startJob(dial: Dial, request: JobRequest, options: FollowOptions = {}): Promise<{ id: string }> {
  const message = toRunRequest(request);
  const job: JobState = { id: message.id, isSent: false, isStarted: false };
  return withLink(dial, job, options, async (link) => {
    await start(link, { job, message }, options);
    return { id: job.id };
  });
}

/**
 * Follows a job that runs, or ran, to its end, from the offsets in `resume`; it is kept unless `keep` is false.
 *
 * @throws {ClientError} JOB_LOST if there is no such job; otherwise as {@link runAndFollow} does
 */
export async function followJob(dial: Dial, id: string, options: FollowOptions = {}): Promise<JobOutcome> {
  const job: JobState = { id, isSent: true, isStarted: false };
  return withLink(dial, job, options, (link) => followToEnd(link, id, { ...options, keep: options.keep ?? true }));
}

interface JobState {
  readonly id: string;
  /** The service may have it. */
  isSent: boolean;
  /** The service said that it has it. */
  isStarted: boolean;
}

async function withLink<T>(
  dial: Dial,
  job: JobState,
  options: FollowOptions,
  work: (link: Link) => Promise<T>,
): Promise<T> {
  using link = new Link(dial, {
    token: options.token,
    bearer: options.bearer,
    reconnectWindowMs: options.reconnectWindowMs ?? RECONNECT_WINDOW_MS,
    connectWindowMs: options.connectWindowMs ?? CONNECT_WINDOW_MS,
    onState: (state) => options.onState?.(state),
    describeRest: () => (job.isSent ? `The job "${job.id}" may still run` : ""),
  });
  const lost = (): string => describeLoss(job, link);
  const onHurry = (): void => void leave(link, job);
  options.hurry?.addEventListener("abort", onHurry, { once: true });
  if (options.hurry?.aborted === true) onHurry();
  try {
    return await Promise.race([work(link), ended(link)]);
  } catch (error) {
    throw toClientError(error, { id: job.id, lost });
  } finally {
    options.hurry?.removeEventListener("abort", onHurry);
  }
}

function describeLoss({ id, isStarted }: JobState, link: Link): string {
  if (!isStarted && !link.isRestarted) return `The service has no job "${id}"`;
  const why = link.isRestarted ? "it was restarted" : "the job was closed, or it expired";
  return `The service does not know the job "${id}" any more: ${why}`;
}

/** Rejects when the link is given up: a sink that never takes its bytes must not hold up the one who leaves. */
function ended(link: Link): Promise<never> {
  return new Promise((_, reject) => {
    link.stopped.addEventListener("abort", () => reject(link.stopped.reason), { once: true });
  });
}

async function leave(link: Link, job: JobState): Promise<void> {
  const { current } = link;
  if (current !== undefined && job.isSent)
    await current.close(job.id, { timeoutMs: LEAVE_WINDOW_MS }).catch(() => undefined);
  link.end(new ClientError("ABANDONED", `The end of job "${job.id}" was not waited for`));
}

interface Start {
  readonly job: JobState;
  readonly message: RunRequest;
}

async function start(link: Link, { job, message }: Start, { signal, onState }: FollowOptions): Promise<void> {
  const acknowledged = link.use(async (service) => {
    if (signal?.aborted === true) throw cancelled(job);
    job.isSent = true;
    await service.run(message);
  });
  // Without a service to ask there is nobody to wait for when the caller gives up.
  if (signal === undefined) await acknowledged;
  else await orAbort(acknowledged, signal, () => withdraw(link, job, acknowledged));
  job.isStarted = true;
  onState?.({ type: "started", id: job.id });
}

async function orAbort(work: Promise<void>, signal: AbortSignal, onAbort: () => Promise<void>): Promise<void> {
  work.catch(() => undefined);
  const aborted = Promise.withResolvers<"aborted">();
  const listener = (): void => aborted.resolve("aborted");
  signal.addEventListener("abort", listener, { once: true });
  if (signal.aborted) listener();
  try {
    if ((await Promise.race([work, aborted.promise])) === "aborted") await onAbort();
  } finally {
    signal.removeEventListener("abort", listener);
  }
}

/** The caller gave up before the service said that it has the job: it may have it all the same. */
async function withdraw(link: Link, job: JobState, acknowledged: Promise<void>): Promise<void> {
  if (!job.isSent) throw cancelled(job);
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), WITHDRAW_WINDOW_MS);
  try {
    // If it has, the job is cancelled as any other and followed to its end.
    const taken = acknowledged.catch((error: unknown) => {
      if (!isCancelled(error)) throw error;
      return link.use((service) => service.close(job.id)).then(() => Promise.reject(error as Error));
    });
    taken.catch(() => undefined);
    if ((await Promise.race([taken, late.promise])) === "late") throw cancelled(job);
  } finally {
    clearTimeout(timer);
  }
}

function cancelled({ id, isSent }: JobState): ClientError {
  const rest = isSent ? "; the service did not say whether it has it" : "";
  return new ClientError("CANCELLED", `The job "${id}" was cancelled before it started${rest}`);
}

function isCancelled(error: unknown): boolean {
  return error instanceof ClientError && error.code === "CANCELLED";
}
