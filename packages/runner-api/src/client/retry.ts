import { setTimeout as delay } from "node:timers/promises";
import type { IncomingHttpHeaders } from "node:http";
import { HEADERS, readSeconds } from "../names.ts";

/** How often a call is made that the server puts off, and how long it waits in between. */
export interface RetryRules {
  /** All attempts, the first one included. */
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

/** The rules of gitlab-runner: five attempts, from 100 ms to a minute apart. */
export const DEFAULT_RETRIES: RetryRules = { attempts: 5, firstDelayMs: 100, longestDelayMs: 60_000 };

/** Whether the server puts a call off that it may well answer later: 408, 429, 500, 502, 503, 504, and 512 or above. */
export function isPutOff(status: number): boolean {
  return [408, 429, 500, 502, 503, 504].includes(status) || status >= 512;
}

/** Waits as the server says, or longer from attempt to attempt. Rejects when the signal aborts. */
export async function waitToRetry(
  headers: IncomingHttpHeaders,
  attempt: number,
  options: { readonly rules: RetryRules; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { rules, signal } = options;
  const grown = Math.min(rules.firstDelayMs * 2 ** attempt, rules.longestDelayMs);
  const told = resetDelay(headers["ratelimit-resettime"]) ?? retryAfter(headers);
  // Half of it by chance, so that those that were put off together do not come back together.
  const ms = told === undefined ? grown / 2 + (Math.random() * grown) / 2 : Math.min(told, rules.longestDelayMs);
  await delay(ms, undefined, { signal });
}

function retryAfter(headers: IncomingHttpHeaders): number | undefined {
  const seconds = readSeconds(headers[HEADERS.retryAfter]);
  return seconds === undefined ? undefined : seconds * 1000;
}

function resetDelay(header: string | string[] | undefined): number | undefined {
  const ms = typeof header === "string" ? Date.parse(header) - Date.now() : Number.NaN;
  return ms > 0 ? ms : undefined;
}
