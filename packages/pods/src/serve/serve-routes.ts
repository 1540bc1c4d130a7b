import type { AddressInfo } from "node:net";
import { MAX_TIMER_MS, messageOf } from "@steps/model";
import { adminToken, writeAddress } from "../admin/admin-token.ts";
import { type Answered, listen } from "../http/listen.ts";
import type { Route } from "../http/route.ts";
import type { RunnerHome } from "../pod/pod.ts";

/** The address at which a pod or a daemon listens. */
export interface ListenOptions {
  /** Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** 0 for any that is free. */
  readonly port: number;
}

/** The patience with calls that are under way when a pod or a daemon is stopped. */
export interface StopOptions {
  /** Calls that take longer are cut off. In milliseconds; default: 10 s. */
  readonly drainMs?: number | undefined;
  /** Aborted: they are cut off at once. */
  readonly hurry?: AbortSignal | undefined;
}

/** Routes that are served. */
interface ServedRoutes {
  /** The URL for runners. */
  readonly url: string;
  readonly adminToken: string;
  /** Takes no more requests, ends the work of the background meanwhile, and lets calls end that are under way. */
  readonly close: (endWork: () => Promise<void>, options?: StopOptions) => Promise<void>;
}

/** How long calls may take to end. */
const STOP_MS = 10_000;

/** Serves routes, and writes the address into the state directory. The routes are made with the token of the owner. */
export async function serveRoutes(
  home: RunnerHome,
  routesFor: (adminToken: string) => readonly Route[],
  { host = "127.0.0.1", port }: ListenOptions,
): Promise<ServedRoutes> {
  const { stateDir, pod } = home.settings;
  const token = adminToken(stateDir);
  const server = await listen(routesFor(token), { host, port, prefix: `/pods/${pod}` }, noteTo(home));
  const own = urlOf(server.address() as AddressInfo);
  const url = home.settings.url ?? own;
  (home.settings as { url: string }).url = url;
  writeAddress(stateDir, { url: own, token });
  return {
    url,
    adminToken: token,
    async close(endWork, { drainMs = STOP_MS, hurry } = {}) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A connection is idle only when the answer that it waited for has gone out.
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const cutOff = (): void => server.closeAllConnections();
      const all = setTimeout(cutOff, Math.min(drainMs, MAX_TIMER_MS));
      hurry?.addEventListener("abort", cutOff);
      if (hurry?.aborted === true) cutOff();
      await Promise.all([closed, endWork()]);
      hurry?.removeEventListener("abort", cutOff);
      clearInterval(idle);
      clearTimeout(all);
    },
  };
}

function noteTo({ metrics, settings }: RunnerHome): (answer: Answered) => void {
  return ({ method, route, status, fault }) => {
    metrics.add("http_requests_total", { method, route, status: String(status) });
    if (fault !== undefined)
      settings.log("error", "A request could not be answered", { method, route, reason: messageOf(fault) });
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === "0.0.0.0" || address === "::" ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
