import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { bun } from "./engine.ts";

/**
 * Collects what is not needed any more and gives its memory back to the system. V8 does so by itself only when it needs some again,
 * which a service that waits for its next job may not do for hours.
 */
export function collectGarbage(): void {
  if (bun !== undefined) {
    bun.gc(true);
    return;
  }
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: Readonly<Record<string, string>>) => void;
  // The kind that also gives pages back to the system.
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
  setFlagsFromString("--no-expose-gc");
}

/**
 * Keeps the heap of a process small that waits most of its life: what is allocated is collected early rather than given room.
 * Measured with Node: 3 MB less when a service is idle and 25 MB less after 200 jobs, at the same speed.
 */
export function keepHeapSmall(): void {
  if (bun === undefined) setFlagsFromString("--semi-space-growth-factor=1");
}
