import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { devNull } from "node:os";

const CLOSE_ON_EXEC = 0o2000000;
const MAX_DESCRIPTOR = 65_535;

let known: readonly ("ignore" | number)[] | undefined;

/**
 * Returns the `stdio` that `spawn()` needs for the descriptors from 3 on, so that no process gets those that our own
 * parent left open for us: `/dev/null` in the place of each. Usually there are none, and the list is empty. It is read
 * once, since nobody hands us more; ours are closed at exec and do not count.
 */
export function coverInherited(): readonly ("ignore" | number)[] {
  known ??= cover(findInherited().filter(isWithinLimit));
  return known;
}

// A process with a lower limit than whoever opened it can neither use nor hand on a descriptor above it, and `spawn()` fails if it
// is to put anything there.
function isWithinLimit(fd: number): boolean {
  if (fd < (descriptorLimit() ?? Number.POSITIVE_INFINITY)) return true;
  closeSync(fd);
  return false;
}

/** How many descriptors this process may have open; `undefined` where it cannot be told. */
export function descriptorLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

// "ignore" would leave a descriptor above 2 as it is.
function cover(inherited: readonly number[]): ("ignore" | number)[] {
  if (inherited.length === 0) return [];
  const nothing = openSync(devNull, "r+");
  const stdio = Array<"ignore" | number>(Math.max(...inherited) - 2).fill("ignore");
  for (const fd of inherited) stdio[fd - 3] = nothing;
  return stdio;
}

function findInherited(): number[] {
  const buffer = Buffer.allocUnsafe(256);
  return openDescriptors().filter((fd) => fd > 2 && fd <= MAX_DESCRIPTOR && isInherited(fd, buffer));
}

function openDescriptors(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch {
    // Without /proc it cannot be told.
    return [];
  }
}

function isInherited(fd: number, buffer: Buffer): boolean {
  try {
    const info = openSync(`/proc/self/fdinfo/${fd}`, "r");
    const length = readSync(info, buffer);
    closeSync(info);
    const flags = /^flags:\s*([0-7]+)/m.exec(buffer.toString("latin1", 0, length))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // It was the one that the folder was read with.
    return false;
  }
}
