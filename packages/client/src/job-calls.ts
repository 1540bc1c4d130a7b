import { checkOptionNames, type OptionNames } from "@steps/model";
import type { Job } from "@steps/proto/service";
import type { Dial } from "./dial.ts";
import type { FollowOptions } from "./follow-options.ts";
import type { ServiceClient } from "./service-client.ts";
import { withLink } from "./with-link.ts";

/** The options of calls that do not follow the job's output. */
export type JobCallOptions = Pick<
  FollowOptions,
  "token" | "bearer" | "hurry" | "onState" | "reconnectWindowMs" | "connectWindowMs"
>;

/** Ending a job takes as long as its grace. */
const CLOSE_TIMEOUT_MS = 120_000;

const OPTION_NAMES: OptionNames<JobCallOptions> = {
  token: true,
  bearer: true,
  hurry: true,
  onState: true,
  reconnectWindowMs: true,
  connectWindowMs: true,
};

/** Asks a job to end: TERM, grace, KILL. Nothing happens to one that ended. @throws {ClientError} JOB_LOST if there is none */
export function cancelJob(dial: Dial, id: string, options: JobCallOptions = {}): Promise<void> {
  checkOptionNames("cancelJob()", options, OPTION_NAMES);
  return call(dial, { id, options }, (service) => service.cancel(id));
}

/** Ends a job if it runs and lets the service forget it. Nothing happens if there is none. @throws {ClientError} */
export function closeJob(dial: Dial, id: string, options: JobCallOptions = {}): Promise<void> {
  checkOptionNames("closeJob()", options, OPTION_NAMES);
  return call(dial, { id, options }, (service) => service.close(id, { timeoutMs: CLOSE_TIMEOUT_MS }));
}

/** The jobs that a service knows, the oldest first. @throws {ClientError} */
export function listJobs(dial: Dial, options: JobCallOptions = {}): Promise<readonly Job[]> {
  checkOptionNames("listJobs()", options, OPTION_NAMES);
  return call(dial, { id: "", options }, (service) => service.list());
}

function call<T>(
  dial: Dial,
  { id, options }: { readonly id: string; readonly options: JobCallOptions },
  work: (service: ServiceClient) => Promise<T>,
): Promise<T> {
  return withLink(dial, { id, isSent: false, isStarted: false }, options, (link) => link.use(work));
}
