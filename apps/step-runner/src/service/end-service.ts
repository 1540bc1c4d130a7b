import type { DrainSignals } from "@steps/console/terminal";
import type { Log } from "@steps/model/operation";
import type { RunningService } from "./start-service.ts";

/**
 * Ends a service as its operator asked for: jobs may go on until their time is over, then they are cancelled, then they have no
 * grace.
 */
export async function endService(service: RunningService, { cancel, leave }: DrainSignals, log: Log): Promise<void> {
  const tell = (message: string): void => {
    const jobs = service.jobs.list().filter(({ info }) => info.status === "running").length;
    if (jobs > 0) log("info", message, { jobs });
  };
  if (!cancel.aborted) {
    tell("Draining: no new jobs are taken, and those that run go on");
    await service.drain(cancel);
  }
  tell("Ending the jobs that run");
  await service.stop(leave);
}
