import { closeSync, openSync, readdirSync, readSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;
const MAX_DESCRIPTOR = 255;

let known: number | undefined;

/**
 * The highest descriptor above 2 that our own parent handed to us open, or 2: every process we start would get it too.
 * Ours are closed at exec and do not count. Read once, since nobody hands us more.
 */
export function highestInheritedDescriptor(): number {
  known ??= findHighest();
  return known;
}

function findHighest(): number {
  const buffer = Buffer.allocUnsafe(256);
  return Math.max(2, ...openDescriptors().filter((fd) => fd > 2 && fd <= MAX_DESCRIPTOR && isInherited(fd, buffer)));
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
