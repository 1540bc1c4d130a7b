import type { RunRequest } from "@steps/proto/service";
import { isPutOff } from "./classify.ts";
import { ClientError } from "./client-error.ts";
import type { FollowOptions } from "./follow-options.ts";
import type { Link } from "./link.ts";
import type { JobState } from "./with-link.ts";

/**
 * When a job is cancelled while it is being started, the service has this long to acknowledge it or to take it back.
 */
const WITHDRAW_WINDOW_MS = 5_000;

interface JobToSend {
  readonly job: JobState;
  readonly message: RunRequest;
}

/** Sends a job until the service acknowledges it. @throws {ClientError} CANCELLED when the caller gives up before */
export async function sendJob(
  link: Link,
  { job, message }: JobToSend,
  { signal, onState }: FollowOptions,
): Promise<void> {
  const acknowledged = link.use(async (service) => {
    if (signal?.aborted === true) throw cancelled(job);
    job.isSent = true;
    try {
      await service.run(message);
    } catch (error) {
      // A service that has the job would say so, wherever it came from: it knows the request.
      if (isPutOff(error)) job.isSent = false;
      throw error;
    }
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
    // When the service has the job, it is cancelled there like any other job and followed to its end.
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
