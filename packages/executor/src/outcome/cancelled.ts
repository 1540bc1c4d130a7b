import { MAX_TIMER_MS } from "@steps/model";

/** The reason to abort a run with: which signal the user sent. */
export class Cancelled extends Error {
  readonly signalName: string;

  constructor(signalName = "SIGTERM") {
    super(`Cancelled by ${signalName}`);
    this.name = "Cancelled";
    this.signalName = signalName;
  }
}

/** The reason a run is aborted with when its time is over. */
export class TimedOut extends Error {
  constructor(timeoutMs: number) {
    super(`Timed out after ${timeoutMs} ms`);
    this.name = "TimedOut";
  }
}

/** A signal that follows another one and is aborted with `TimedOut` after a time. `release()` ends both. */
export function signalWithTimeout(
  signal: AbortSignal,
  timeoutMs: number | undefined,
): { readonly signal: AbortSignal; release(): void } {
  if (timeoutMs === undefined) return { signal, release() {} };
  const controller = new AbortController();
  const follow = (): void => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(new TimedOut(timeoutMs)), Math.min(timeoutMs, MAX_TIMER_MS));
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      signal.removeEventListener("abort", follow);
    },
  };
}
