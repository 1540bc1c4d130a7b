import { isProcess } from "./proc.ts";
import type { LeftRunning } from "./run-process.ts";
import { endGroup, killSurvivors } from "./terminate.ts";

/** The time that these processes have between TERM and KILL when the job is over. */
const GRACE_MS = 500;

/** The processes that the steps of a job have left running until its end. */
export class LeftProcesses {
  readonly #left: LeftRunning[] = [];

  readonly keep = (left: LeftRunning): void => void this.#left.push(left);

  /** Ends them: TERM, half a second, KILL. @param cookie of the run, for those that have left their group */
  async end(cookie: string, hurry: AbortSignal | undefined): Promise<void> {
    const left = this.#left.splice(0);
    // As long as a group has a member, no process gets its number: one that has it now leads another group.
    const groups = left.map(({ pgid }) => pgid).filter((pgid) => !isProcess(pgid));
    const ended = groups.map((pgid) => endGroup(pgid, GRACE_MS, { hurry }));
    if (left.length > 0) await Promise.all([...ended, killSurvivors(cookie, GRACE_MS, { hurry })]);
    for (const one of left) one.destroy();
  }
}
