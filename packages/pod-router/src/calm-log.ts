import type { Log } from "@steps/model/operation";

const CALM_MS = 10_000;

/** A log in which a warning that comes again within ten seconds is for debugging: what strangers send must not fill a disk. */
export function calmLog(log: Log): Log {
  const warned = new Map<string, number>();
  return (level, message, facts) => {
    const now = performance.now();
    const isRepeated = level === "warning" && now - (warned.get(message) ?? -Infinity) < CALM_MS;
    if (level === "warning" && !isRepeated) warned.set(message, now);
    log(isRepeated ? "debug" : level, message, facts);
  };
}
