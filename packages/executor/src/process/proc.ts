import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { hasEnded, readProcessStat } from "@steps/platform";

/** A moment in the life of the system, to tell younger processes from older ones. */
export interface Moment {
  readonly lastPid: number;
  readonly atMs: number;
}

// Numbers begin anew after the last one. No system starts millions of processes in this time.
const MAX_AGE_MS = 60_000;

/** The moment that is now; `undefined` where there is no `/proc`. */
function currentMoment(): Moment | undefined {
  try {
    const lastPid = Number(readFileSync("/proc/loadavg", "latin1").trim().split(" ")[4]);
    return Number.isInteger(lastPid) ? { lastPid, atMs: Date.now() } : undefined;
  } catch {
    return undefined;
  }
}

// Up to this count, to try the numbers one by one is faster than to list all processes.
const MAX_TRIED = 64;

/**
 * The processes of our own user, without ourselves; since a moment, if it is not long ago, only younger ones, and their
 * threads may be among them. Empty where there is no `/proc`.
 */
export function ownProcesses(since?: Moment): number[] {
  const uid = process.getuid?.();
  return numbersSince(since).filter((pid) => pid !== process.pid && ownerOf(pid) === uid);
}

function numbersSince(since: Moment | undefined): number[] {
  const now = since === undefined ? undefined : currentMoment();
  if (since === undefined || now === undefined) return allPids();
  if (now.atMs - since.atMs > MAX_AGE_MS || now.atMs < since.atMs) return allPids();
  const count = now.lastPid - since.lastPid;
  if (count < 0) return allPids().filter((pid) => pid > since.lastPid || pid <= now.lastPid);
  if (count > MAX_TRIED) return allPids().filter((pid) => pid > since.lastPid && pid <= now.lastPid);
  return Array.from({ length: count }, (_, index) => since.lastPid + 1 + index);
}

function allPids(): number[] {
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Whether the number is that of a process and not of one of its threads, which `/proc` knows too. */
export function isProcess(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/status`, "latin1").includes(`\nTgid:\t${pid}\n`);
  } catch {
    return false;
  }
}

/**
 * Whether the environment that a process was started with has one of these values, alone or in a list with commas, in a
 * variable.
 */
export function hasVariable(pid: number, name: string, values: ReadonlySet<string>): boolean {
  try {
    const environ = `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}\0`;
    const start = environ.indexOf(`\0${name}=`);
    if (start === -1) return false;
    const found = environ.slice(start + name.length + 2, environ.indexOf("\0", start + 1));
    return found.split(",").some((value) => values.has(value));
  } catch {
    // It has ended, or it is not ours to look at.
    return false;
  }
}

/** Whether a process has one of these files open. */
export function holdsAny(pid: number, paths: ReadonlySet<string>): boolean {
  return namesIn(`/proc/${pid}/fd`).some((fd) => {
    try {
      return paths.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  });
}

/** Whether any process of the group still runs. One that has ended and waits for its parent does not. */
export function groupHasRunning(pgid: number): boolean {
  const pids = allPids();
  // Without /proc the signal's answer is all there is.
  return pids.length === 0 || pids.some((pid) => isRunningIn(pid, pgid));
}

function isRunningIn(pid: number, pgid: number): boolean {
  const stat = readProcessStat(pid);
  return stat?.group === pgid && !hasEnded(stat);
}

function ownerOf(pid: number): number | undefined {
  try {
    return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
  } catch {
    return undefined;
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
