import type { FetchProgress } from "./component.ts";
import type { Limits } from "@steps/transfer";
import { CacheError } from "./cache-error.ts";

interface Shared {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: FetchProgress) => void;
}

/** Runs a transfer that is aborted when it takes longer than it may: TRANSPORT. */
export async function withTimeout<T>(limits: Limits, shared: Shared, run: (shared: Shared) => Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => {
    timeout.abort(
      new CacheError("TRANSPORT", `Cannot fetch component: it took longer than ${limits.fetchTimeoutMs} ms`),
    );
  }, limits.fetchTimeoutMs);
  try {
    return await run({ ...shared, signal: AbortSignal.any([shared.signal, timeout.signal]) });
  } finally {
    clearTimeout(timer);
  }
}
