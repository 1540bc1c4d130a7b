import { readFileSync } from "node:fs";

/** The part of `/proc/PID/stat` that tells one process from another (proc_pid_stat(5)). */
export interface ProcessStat {
  /** One letter; `Z` and `X` are for a process that has ended and waits for its parent. */
  readonly state: string;
  /** The number of its process group. */
  readonly group: number;
  /** When it was started, in ticks of the kernel since the system was: a number that is used again has another. */
  readonly startTime: string;
}

/** Reads what the kernel says of a process; `undefined` when there is no such process, or no `/proc`. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  const stat = readOptional(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold anything, blanks and parentheses too.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", group: Number(fields[2]), startTime: fields[19] ?? "" };
}

/** Whether a process has ended and only waits for its parent to take note. */
export function hasEnded({ state }: ProcessStat): boolean {
  return state === "Z" || state === "X";
}

/** Returns an id of the current boot of the system; empty where the system has none. */
export function bootId(): string {
  return readOptional("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
