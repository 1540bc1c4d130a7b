import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { devNull } from "node:os";

const CLOSE_ON_EXEC = 0o2000000;
const MAX_DESCRIPTOR = 65_535;

let known: readonly ("ignore" | number)[] | undefined;

/**
 * What `spawn()` is to put at the descriptors from 3 on, so that no process gets what our own parent handed to us open:
 * `/dev/null` in the place of each. Usually there are none, and the list is empty. Read once, since nobody hands us more;
 * ours are closed at exec and do not count.
 */
export function coverInherited(): readonly ("ignore" | number)[] {
  known ??= cover(findInherited());
  return known;
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
  } catch (cause) {
    // Without /proc it cannot be told.
    void cause;
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
  } catch (cause) {
    // It was the one that the folder was read with.
    void cause;
    return false;
  }
}
