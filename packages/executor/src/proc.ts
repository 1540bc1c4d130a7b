import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/** A moment in the life of the system, to tell younger processes from older ones. */
export interface Moment {
  readonly lastPid: number;
  readonly atMs: number;
}

// Numbers begin anew after the last one. No system starts millions of processes in this time.
const MAX_AGE_MS = 60_000;

/** The moment that is now; `undefined` where there is no `/proc`. */
export function currentMoment(): Moment | undefined {
  try {
    const lastPid = Number(readFileSync("/proc/loadavg", "latin1").trim().split(" ")[4]);
    return Number.isInteger(lastPid) ? { lastPid, atMs: Date.now() } : undefined;
  } catch (error) {
    void error;
    return undefined;
  }
}

/**
 * The processes of our own user, without ourselves; since a moment, if it is not long ago, only younger ones. Empty where
 * there is no `/proc`.
 */
export function ownProcesses(since?: Moment): number[] {
  const uid = process.getuid?.();
  const isYounger = youngerThan(since);
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isYounger(pid) && ownerOf(pid) === uid);
}

function youngerThan(since: Moment | undefined): (pid: number) => boolean {
  const now = since === undefined ? undefined : currentMoment();
  if (since === undefined || now === undefined || now.atMs - since.atMs > MAX_AGE_MS || now.atMs < since.atMs)
    return () => true;
  if (now.lastPid < since.lastPid) return (pid) => pid > since.lastPid || pid <= now.lastPid;
  return (pid) => pid > since.lastPid && pid <= now.lastPid;
}

/** Whether the environment that a process was started with has this value, alone or in a list with commas, in a variable. */
export function hasVariable(pid: number, name: string, value: string): boolean {
  try {
    const environ = `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}\0`;
    const start = environ.indexOf(`\0${name}=`);
    if (start === -1) return false;
    const found = environ.slice(start + name.length + 2, environ.indexOf("\0", start + 1));
    return found.split(",").includes(value);
  } catch (error) {
    // It has ended, or it is not ours to look at.
    void error;
    return false;
  }
}

/** Whether a process has one of these files open. */
export function holdsAny(pid: number, paths: ReadonlySet<string>): boolean {
  return namesIn(`/proc/${pid}/fd`).some((fd) => {
    try {
      return paths.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch (error) {
      void error;
      return false;
    }
  });
}

/** Whether any process of the group still runs. One that has ended and waits for its parent does not. */
export function groupHasRunning(pgid: number): boolean {
  const pids = namesIn("/proc").filter((name) => /^\d+$/.test(name));
  // Without /proc the signal's answer is all there is.
  return pids.length === 0 || pids.some((pid) => isRunningIn(pid, pgid));
}

function isRunningIn(pid: string, pgid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name before may hold anything, blanks and parentheses too.
    const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(group) === pgid && state !== "Z" && state !== "X";
  } catch (error) {
    void error;
    return false;
  }
}

function ownerOf(pid: number): number | undefined {
  try {
    return statSync(`/proc/${pid}`).uid;
  } catch (error) {
    void error;
    return undefined;
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    void error;
    return [];
  }
}
