import type { JobCallOptions } from "@steps/client";

/** Somebody waits for the answer: one lost connection is made again, a service that is away is not waited for. */
const WINDOW_MS = 2_000;

/** How the commands call that follow nothing. */
export function callOptions(token?: string): JobCallOptions {
  return { connectWindowMs: 0, reconnectWindowMs: WINDOW_MS, token };
}
