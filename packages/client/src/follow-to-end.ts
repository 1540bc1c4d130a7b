import { type Job, Job_JobStatus } from "@steps/proto/service";
import { setTimeout as sleep } from "node:timers/promises";
import { followOutput } from "./follow-output.ts";
import { followResults, readTrace } from "./follow-result.ts";
import type { FollowOptions, JobOutcome } from "./follow-options.ts";
import type { Link } from "./link.ts";
import { reasonOf } from "./reason-of.ts";

/** How long a service is asked to forget a job that ended. It does so by itself in the end. */
const CLOSE_WINDOW_MS = 10_000;

/** Follows a job that the service has acknowledged until it has ended, fetches what is wanted of it, and closes it. */
export async function followToEnd(link: Link, id: string, options: FollowOptions): Promise<JobOutcome> {
  const { job, offsets, result: seen } = await follow(link, id, options);
  options.onState?.({ type: "ended", job });
  const fetch = async <T>(what: "result" | "trace", read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      link.stopped.throwIfAborted();
      // The job's end is known, and counts for more.
      options.onState?.({ type: "unavailable", what, reason: reasonOf(error) });
      return undefined;
    }
  };
  const wantsResult = options.wantsResult === true && seen === undefined;
  const result = wantsResult ? await fetch("result", () => followResults(link, id, {})) : seen;
  const trace = options.wantsTrace === true ? await fetch("trace", () => readTrace(link, id)) : undefined;
  if (options.keep !== true) await close(link, id, options);
  return {
    id,
    token: options.token,
    job,
    exitCode: exitCodeOf(job),
    offsets,
    result,
    trace,
  };
}

async function follow(
  link: Link,
  id: string,
  options: FollowOptions,
): Promise<Pick<JobOutcome, "job" | "offsets" | "result">> {
  const { signal, onState } = options;
  const onAbort = (): void => {
    onState?.({ type: "cancelling", id });
    // An error of it reaches whoever follows the log as well.
    link.use((service) => service.cancel(id)).catch(() => undefined);
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    const wantsResults = options.onResult !== undefined;
    const [output, result] = await Promise.all([
      followOutput(link, id, options),
      wantsResults ? followResults(link, id, options) : undefined,
    ]);
    return result === undefined ? output : { ...output, result };
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

async function close(link: Link, id: string, { onState }: FollowOptions): Promise<void> {
  const stop = new AbortController();
  try {
    const late = sleep(CLOSE_WINDOW_MS, undefined, { signal: stop.signal, ref: false }).then(() => {
      throw new Error(`no answer within ${CLOSE_WINDOW_MS / 1000} s`);
    });
    late.catch(() => undefined);
    await Promise.race([link.use((service) => service.close(id)), late]);
    onState?.({ type: "closed", id });
  } catch (error) {
    onState?.({ type: "close-failed", reason: reasonOf(error) });
  } finally {
    stop.abort();
  }
}

/** A service that does not say how it ended says at least whether it was well. */
function exitCodeOf(job: Job): number {
  return job.exitCode ?? (job.status === Job_JobStatus.suceeded ? 0 : 1);
}
