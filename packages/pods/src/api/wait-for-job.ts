import { HEADERS } from "@steps/runner-api";
import type { JobRequest } from "@steps/runner-api/messages";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import type { RunnerHome } from "../pod/pod.ts";
import type { JobQueue, WaitResult } from "../queue/job-queue.ts";
import type { SlotJob } from "../queue/job-source.ts";
import { capabilityOf, type Runner } from "../runners/runner.ts";

/** The most requests of one machine, and of all, that this process holds at once. */
const MAX_HELD_PER_MANAGER = 100;
const MAX_HELD = 20_000;
/** The system id of clients that have none, in GitLab's words. */
const LEGACY = "<legacy>";

/** Notes that a machine of the runner has asked. Gives its id. */
export async function contact(home: RunnerHome, runner: Runner, { system_id: id, info }: JobRequest): Promise<number> {
  const systemId = (id ?? "").slice(0, 64);
  return await home.managers.contact(home.database, runner.id, systemId || LEGACY, info);
}

/** How long a request is held, in milliseconds: runners that ask again should not all do so in the same moment. */
export function holdOf({ settings }: RunnerHome): number {
  return settings.pollHoldMs * (0.9 + Math.random() * 0.2);
}

/** A request for a job, and until when it may wait, on the clock of `performance`, which nobody sets. */
export interface Waiting {
  readonly exchange: Exchange;
  readonly request: JobRequest;
  readonly runner: Runner;
  readonly managerId: number;
  readonly until: number;
}

/** Waits for a job of the queue. @throws {HttpError} 429 when too many wait */
export async function waitForJob<Job extends SlotJob>(
  home: RunnerHome & { readonly queue: JobQueue<Job> },
  { exchange, request: { info, last_update: ticket }, runner, managerId, until }: Waiting,
): Promise<WaitResult<Job>> {
  const { queue, settings } = home;
  if (queue.waiting >= MAX_HELD || queue.waitingOf(managerId) >= MAX_HELD_PER_MANAGER)
    throw new HttpError(429, "429 Too Many Requests", { [HEADERS.retryAfter]: "10" });
  const slot = {
    runnerId: runner.id,
    runnerVersion: runner.version,
    managerId,
    leaseSeconds: confirms(info) ? settings.leaseSeconds : settings.leaseSeconds * 2,
    cancelsGracefully: info.features["cancel_gracefully"] === true,
  };
  const capability = capabilityOf(runner, info.features);
  return await queue.wait({ capability, slot, ticket, holdMs: until - performance.now(), signal: exchange.left });
}

/** Whether the runner confirms a job before it starts it. */
export function confirms({ features }: JobRequest["info"]): boolean {
  return features["two_phase_job_commit"] === true;
}
