import type { Service } from "../create-service.ts";

/** A place where a service listens. */
export interface Listener {
  /** The address that a client is told: a path, or a URL. */
  readonly address: string;
  /** The number of connections that are open. */
  connectionCount(): number;
  /** Takes no new connection and no new call; calls that run go on. */
  refuse(): void;
  /** Resolves when every connection has ended by itself. */
  ended(): Promise<void>;
  /** Ends what is left, and gives the place back. */
  destroy(): Promise<void>;
}

const DRAIN_MS = 5000;
const ABORT_MS = 1000;

/**
 * Stops a service: no new calls (GOAWAY), then every job ends (TERM, grace, KILL) and with it the calls that follow it,
 * then what is left after a while is cut off. Bounded, whatever clients do.
 */
export async function stopService(service: Service, listeners: readonly Listener[]): Promise<void> {
  service.drain();
  for (const listener of listeners) listener.refuse();
  try {
    await service.jobs[Symbol.asyncDispose]();
    if (await drainListeners(listeners, DRAIN_MS)) return;
    service.abortCalls();
    await drainListeners(listeners, ABORT_MS);
  } finally {
    await Promise.all(listeners.map((listener) => listener.destroy()));
  }
}

/** Takes no new calls and waits for the connections to end, which they do with their last call; not longer than told. */
export async function drainListeners(listeners: readonly Listener[], timeoutMs: number): Promise<boolean> {
  for (const listener of listeners) listener.refuse();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const ended = Promise.all(listeners.map((listener) => listener.ended()));
  try {
    return await Promise.race([ended.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
