import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from "node:fs";
import { hasEnded, readProcessStat } from "@steps/platform";

/** A moment in the life of the system, to tell younger processes from older ones. */
export interface Moment {
  readonly lastPid: number;
  readonly atMs: number;
}

// Numbers begin anew after the last one, often the 32768th. No system starts so many processes in this time.
const MAX_AGE_MS = 2000;

// It is asked after each process. What is read from its start is always what holds then.
let load: number | "foreign" | undefined;
const loadText: Buffer = Buffer.alloc(256);
const ZERO = 48;
const BLANK = 32;

/** The moment that is now; `undefined` where the system does not tell it. */
export function currentMoment(): Moment | undefined {
  try {
    load ??= openLoad();
    if (load === "foreign") return undefined;
    const length = readSync(load, loadText, 0, loadText.length, 0);
    const lastPid = lastNumber(loadText.subarray(0, length));
    return lastPid === undefined ? undefined : { lastPid, atMs: Date.now() };
  } catch {
    return undefined;
  }
}

// In a container of LXC another program makes the file: its numbers are those of another system, and seconds old.
function openLoad(): number | "foreign" {
  const fd = openSync("/proc/loadavg", "r");
  if (fstatSync(fd).dev === statSync("/proc").dev) return fd;
  closeSync(fd);
  return "foreign";
}

// The line ends with the number that was given last, behind a blank.
function lastNumber(line: Uint8Array): number | undefined {
  let number = 0;
  let unit = 1;
  for (let at = line.length - 1; at >= 0; at--) {
    const digit = (line[at] as number) - ZERO;
    if (digit >= 0 && digit <= 9) {
      number += digit * unit;
      unit *= 10;
    } else if (unit > 1) return line[at] === BLANK ? number : undefined;
  }
  return undefined;
}

/**
 * Whether no process was started after one whose number is that of the moment: then it has left none behind. Its number is not given
 * again while a process of its group or of its session is there.
 */
export function wasLastStarted(moment: Moment): boolean {
  return currentMoment()?.lastPid === moment.lastPid;
}

// Up to this count, to try the numbers one by one is faster than to list all processes.
const MAX_TRIED = 64;

/**
 * The processes of our own user, without ourselves; since a moment, if it is not long ago, only younger ones, and their
 * threads may be among them. Empty where there is no `/proc`. @param others that are left out
 */
export function ownProcesses(since?: Moment, others?: ReadonlySet<number>): number[] {
  const uid = process.getuid?.();
  return numbersSince(since).filter((pid) => pid !== process.pid && others?.has(pid) !== true && ownerOf(pid) === uid);
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
 * variable. `undefined` where there is no environment: the process may be between two programs, which takes a moment, and then has it.
 */
export function hasVariable(pid: number, name: string, values: ReadonlySet<string>): boolean | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/environ`, "latin1");
    if (text === "") return hasProgram(pid) ? undefined : false;
    const environ = `\0${text}\0`;
    const start = environ.indexOf(`\0${name}=`);
    if (start === -1) return false;
    const found = environ.slice(start + name.length + 2, environ.indexOf("\0", start + 1));
    return found.split(",").some((value) => values.has(value));
  } catch {
    // It has ended, or it is not ours to look at.
    return false;
  }
}

// Neither a process that has ended nor a thread of the kernel has one.
function hasProgram(pid: number): boolean {
  return readlinkSync(`/proc/${pid}/exe`) !== "";
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
  return pids.length === 0 || pids.some((pid) => groupOf(pid) === pgid);
}

/** The group of a process that runs: one that has ended and waits for its parent is in none. */
export function groupOf(pid: number): number | undefined {
  const stat = readProcessStat(pid);
  return stat === undefined || hasEnded(stat) ? undefined : stat.group;
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
