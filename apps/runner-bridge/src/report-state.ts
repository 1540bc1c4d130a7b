import { errors, programName } from "@steps/console/terminal";
import type { ClientState } from "@steps/client";
import { statusName } from "./status-name.ts";

/** A first connection that has failed so often has been tried for more than a second. */
const WAITING_AFTER = 6;

export interface ReportOptions {
  readonly isVerbose: boolean;
  readonly isQuiet: boolean;
}

/** The thing that a job waits for, by the word of the service. */
const WAITS: Readonly<Record<string, string>> = {
  TOO_MANY_JOBS: "Waiting for a free place: the service runs as many jobs as it may",
  SERVICE_DRAINING: "Waiting for the service to be started again: it is about to end and takes no new jobs",
};

/** Says what happens to the connection and the job: all of it, or only what a job waits for that does not start. */
export function stateReporter({ isVerbose, isQuiet }: ReportOptions): (state: ClientState) => void {
  let wasConnected = false;
  let waitsFor: string | undefined;
  return (state) => {
    if (state.type === "connected") wasConnected = true;
    const wait = state.type === "retrying" ? WAITS[state.serviceCode ?? ""] : undefined;
    if (isVerbose) say(describe(state));
    else if (wait !== undefined && !isQuiet) {
      if (wait !== waitsFor) say(wait);
      waitsFor = wait;
    } else if (state.type === "started" && waitsFor !== undefined) say(describe(state));
    else if (state.type === "retrying" && !wasConnected && state.attempt === WAITING_AFTER && !isQuiet)
      say(`Waiting for the service: ${state.reason}`);
    else if (state.type === "unavailable") say(describe(state));
  };
}

function say(text: string): void {
  void errors.writeLines(`${programName()}: ${text}\n`);
}

function describe(state: ClientState): string {
  switch (state.type) {
    case "connected":
      return `Connected to ${state.server.name === "" ? "a service" : state.server.name}${state.attempt > 1 ? ` at attempt ${state.attempt}` : ""}`;
    case "restarted":
      return "The service was restarted";
    case "lost":
      return state.reason;
    case "retrying":
      return `Attempt ${state.attempt} failed, the next is in ${(state.delayMs / 1000).toFixed(1)} s: ${state.reason}`;
    case "started":
      return `Job ${state.id} runs`;
    case "cancelling":
      return `Cancelling job ${state.id}`;
    case "ended":
      return `Job ${state.job.id} ended: ${statusName(state.job.runStatus)}`;
    case "unavailable":
      return `The ${state.what} of the job cannot be had: ${state.reason}`;
    case "closed":
      return `Job ${state.id} is closed`;
    case "close-failed":
      return `The job could not be closed: ${state.reason}`;
  }
}
