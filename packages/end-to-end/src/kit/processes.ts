import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "@steps/testkit";

/**
 * How long what a killed runner leaves may take to end, in milliseconds: the grace of a cancelled step, the rounds of the
 * reaper, and time for a busy machine.
 */
export const GRACE_MS = 12_000;

/** Processes that have the folder in their arguments, in their environment or as their working directory. */
export function processesOf(dir: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isRunning(pid) && belongsTo(pid, dir));
}

function belongsTo(pid: number, dir: string): boolean {
  return (
    look(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(dir) ||
    ["cmdline", "environ"].some((file) => look(() => readFileSync(`/proc/${pid}/${file}`, "utf8")).includes(dir))
  );
}

function look(read: () => string): string {
  try {
    return read();
  } catch {
    // It ended meanwhile, or it is another user's.
    return "";
  }
}

/** Waits until none of a folder's processes is left; gives those that still run when the time is over. */
export async function whatIsLeft(dir: string, withinMs: number): Promise<number[]> {
  const end = performance.now() + withinMs;
  for (;;) {
    const left = processesOf(dir);
    if (left.length === 0 || performance.now() >= end) return left;
    await sleep(20);
  }
}

/** Describes a process in a failure: its number, its state and its arguments. */
export function commandOf(pid: number): string {
  const state = /^State:\s+(\S)/m.exec(look(() => readFileSync(`/proc/${pid}/status`, "utf8")))?.[1] ?? "gone";
  const command = look(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"))
    .replaceAll("\0", " ")
    .trim();
  return `${pid} ${state} ${command.slice(0, 200)}`;
}

/** Ends processes at once; those that are gone do not matter. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {}
  }
}

/** The most memory that a process ever had, in MiB; 0 if it is gone. */
export function peakMemory(pid: number): number {
  const status = look(() => readFileSync(`/proc/${pid}/status`, "utf8"));
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024);
}
