import { toClientError } from "./classify.ts";
import { ClientError } from "./client-error.ts";
import type { Dial } from "./dial.ts";
import type { FollowOptions } from "./follow-options.ts";
import { Link } from "./link.ts";

const RECONNECT_WINDOW_MS = 300_000;
const CONNECT_WINDOW_MS = 10_000;
/** How long the last message to the service may take when nobody is waiting any more. */
const LEAVE_WINDOW_MS = 1_000;

/** How far a job has come. */
export interface JobState {
  readonly id: string;
  /** The service may have it. */
  isSent: boolean;
  /** The service said that it has it. */
  isStarted: boolean;
}

/** Does something with a job over as many connections as it takes, and tells what goes wrong in the words of a client. */
export async function withLink<T>(
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
  const onDetach = (): void => link.end(new ClientError("DETACHED", `The job "${job.id}" goes on by itself`));
  options.detach?.addEventListener("abort", onDetach, { once: true });
  if (options.detach?.aborted === true) onDetach();
  try {
    return await Promise.race([work(link), ended(link)]);
  } catch (error) {
    throw toClientError(error, { id: job.id, lost });
  } finally {
    options.hurry?.removeEventListener("abort", onHurry);
    options.detach?.removeEventListener("abort", onDetach);
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
