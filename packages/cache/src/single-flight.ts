import { cancelled } from "@steps/transfer";
import type { FetchProgress } from "./component.ts";

/** Someone who waits for a shared operation. */
export interface Waiter {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: FetchProgress) => void) | undefined;
}

/** The operation that several wait for. Its signal is aborted when nobody waits any more. */
export type SharedOperation<T> = (waiter: {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: FetchProgress) => void;
}) => Promise<T>;

interface Flight {
  readonly promise: Promise<unknown>;
  readonly controller: AbortController;
  readonly waiters: Set<Waiter>;
}

/** A table of running operations: who asks for one that runs joins it. */
export type Flights = Map<string, Flight>;

/**
 * Runs an operation once for all who ask for it while it runs. `isFirst` tells who started it. Whoever gives up leaves the
 * others their result; the last to leave aborts it.
 */
export async function singleFlight<T>(
  flights: Flights,
  key: string,
  options: { readonly waiter: Waiter; readonly run: SharedOperation<T> },
): Promise<{ value: T; isFirst: boolean }> {
  const { waiter, run } = options;
  const running = flights.get(key);
  const flight = running ?? start(flights, key, run);
  const self: Waiter = { ...waiter };
  flight.waiters.add(self);
  try {
    const value = (await abortable(flight.promise, waiter.signal)) as T;
    return { value, isFirst: running === undefined };
  } finally {
    flight.waiters.delete(self);
    if (flight.waiters.size === 0) {
      if (flights.get(key) === flight) flights.delete(key);
      flight.controller.abort();
    }
  }
}

function start<T>(flights: Flights, key: string, run: SharedOperation<T>): Flight {
  const controller = new AbortController();
  const waiters = new Set<Waiter>();
  const onProgress = (progress: FetchProgress): void => {
    for (const waiter of waiters) waiter.onProgress?.(progress);
  };
  const promise = run({ signal: controller.signal, onProgress });
  const flight: Flight = { promise, controller, waiters };
  flights.set(key, flight);
  const forget = (): void => {
    if (flights.get(key) === flight) flights.delete(key);
  };
  promise.then(forget, forget);
  return flight;
}

async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise;
  if (signal.aborted) throw cancelled(signal);
  const { promise: abort, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(cancelled(signal));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, abort]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
