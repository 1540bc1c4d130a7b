import { readFileSync } from "node:fs";

/**
 * Whether a process runs: one that has ended and that its parent has yet to wait for does not.
 * An orphan's new parent may wait for it late, and this must not be taken for a process left behind.
 */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything.
    const state = stat.charAt(stat.lastIndexOf(")") + 2);
    return state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}
