import type { IncomingMessage } from "node:http";
import { MAX_TIMER_MS } from "@steps/model";

/** How slowly a body may come: after the grace, so many bytes a second on average, from the beginning of the request. */
export interface BodyPace {
  readonly graceMs: number;
  readonly bytesPerSecond: number;
}

/**
 * Watches how fast the body of a request comes until it is whole, and tells once that it is too slow. A time in which the request is
 * paused counts as none, since its pod is slow then and not its client.
 */
export function watchBody(request: IncomingMessage, { graceMs, bytesPerSecond }: BodyPace, onSlow: () => void): void {
  const { "transfer-encoding": coding, "content-length": length = "0" } = request.headers;
  if (coding === undefined && Number(length) === 0) return;
  const { socket } = request;
  const bytesBefore = socket.bytesRead;
  let passed = 0;
  let runsSince = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const check = (): void => {
    const now = performance.now();
    passed += now - runsSince;
    runsSince = now;
    const left = graceMs + ((socket.bytesRead - bytesBefore) * 1000) / bytesPerSecond - passed;
    if (left > 0) {
      timer = setTimeout(check, Math.min(left, MAX_TIMER_MS));
      return;
    }
    stop();
    onSlow();
  };
  const pause = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    passed += performance.now() - runsSince;
  };
  const resume = (): void => {
    if (timer !== undefined) return;
    runsSince = performance.now();
    check();
  };
  const stop = (): void => {
    clearTimeout(timer);
    request.off("pause", pause).off("resume", resume).off("end", stop).off("close", stop);
  };
  request.on("pause", pause).on("resume", resume).on("end", stop).on("close", stop);
  check();
}
