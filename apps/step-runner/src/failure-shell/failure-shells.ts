import { errors, terminalOf } from "@steps/console/terminal";
import { type Job, messageOf, type Outcome, type Status } from "@steps/model";
import { printable } from "@steps/model/diagnostic";
import type { EndedContainer } from "../job-containers/run-placed-job.ts";

/** A job that has ended, with what is still there of it. */
export interface EndedJob {
  readonly job: Job;
  readonly outcome: Outcome;
  /** Absent for a job that has run on this machine. */
  readonly container: EndedContainer | undefined;
}

const FAILED: ReadonlySet<Status> = new Set<Status>(["failure", "error", "timeout"]);

/** Opens shells where jobs have failed, one after the other: there is one terminal. */
export class FailureShells {
  #last: Promise<void> = Promise.resolve();

  /** Returns when the user has left the shell, at once for a job that has not failed. An abort ends the shell. */
  async open(ended: EndedJob, signal: AbortSignal): Promise<void> {
    if (!FAILED.has(ended.outcome.status)) return;
    const turn = this.#last.then(() => openShell(ended, signal));
    this.#last = turn;
    await turn;
  }
}

async function openShell({ job, outcome, container }: EndedJob, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { shellCommand } = await import("./shell-command.ts");
  const { runInteractive } = await import("@steps/platform/processes");
  const { place, ...command } = shellCommand(job, container);
  const why = outcome.error?.message ?? outcome.status;
  const name = job.name === undefined ? "The job" : `The job "${job.name}"`;
  await say(`${name} failed: ${why}`);
  await say(`This shell is in ${place}, with the job's variables and secrets. "exit" goes on.`);
  try {
    await runInteractive({ ...command, signal });
  } catch (error) {
    await say(`The shell cannot be started: ${messageOf(error)}`);
  }
}

async function say(text: string): Promise<void> {
  await errors.writeLines(`${terminalOf(2).bold(printable(text))}\n`);
}
