import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects what is not needed any more and gives its memory back. V8 does so by itself only when it needs some again, which
 * a service that waits for its next job may not do for hours.
 */
export function giveBackMemory(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: Readonly<Record<string, string>>) => void;
  // The kind that also gives pages back to the system.
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
  setFlagsFromString("--no-expose-gc");
}
