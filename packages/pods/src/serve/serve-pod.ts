import type { AddressInfo } from "node:net";
import { messageOf } from "@steps/model";
import { adminRoutes } from "../admin/admin-routes.ts";
import { adminToken, writeAddress } from "../admin/admin-token.ts";
import { runnerApiRoutes } from "../api/runner-api-routes.ts";
import { type Answered, listen } from "../http/listen.ts";
import { openPod } from "../pod/pod.ts";
import type { Pod } from "../pod/pod.ts";
import type { PodOptions } from "../pod/pod-options.ts";
import { Sweeper } from "../sweep/sweeper.ts";
import { publicRoutes } from "./public-routes.ts";

/** The addresses at which a pod listens. */
export interface ListenOptions {
  /** Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** 0 for any that is free. */
  readonly port: number;
}

/** A pod that listens. */
export interface ServedPod {
  /** The URL for runners. */
  readonly url: string;
  /** The token of the admin API. */
  readonly adminToken: string;
  /** Answers all who wait, lets calls end that are under way, and closes the database. */
  readonly stop: () => Promise<void>;
}

/** How long calls may take to end. */
const STOP_MS = 10_000;

/**
 * Serves a pod: the runner API, the admin API, metrics and health. Its address is written into the state directory, where the
 * commands of the same user find it.
 *
 * @throws {DatabaseError} when the database cannot be used; the system's error when the port is taken
 */
export async function servePod(options: PodOptions, { host = "127.0.0.1", port }: ListenOptions): Promise<ServedPod> {
  const pod = await openPod(options);
  try {
    const token = adminToken(pod.settings.stateDir);
    const routes = [...runnerApiRoutes(pod), ...adminRoutes(pod, token), ...publicRoutes(pod)];
    const server = await listen(routes, { host, port, prefix: `/pods/${pod.settings.pod}` }, noteTo(pod));
    const own = urlOf(server.address() as AddressInfo);
    const url = pod.settings.url ?? own;
    (pod.settings as { url: string }).url = url;
    writeAddress(pod.settings.stateDir, { url: own, token });
    const sweeper = new Sweeper(pod);
    return {
      url,
      adminToken: token,
      async stop() {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        pod.queue.close();
        await sweeper.close();
        // A connection is idle only when the answer that it waited for has gone out.
        const idle = setInterval(() => server.closeIdleConnections(), 50);
        const all = setTimeout(() => server.closeAllConnections(), STOP_MS);
        await closed;
        clearInterval(idle);
        clearTimeout(all);
        await pod.close();
      },
    };
  } catch (error) {
    await pod.close();
    throw error;
  }
}

function noteTo(pod: Pod): (answer: Answered) => void {
  return ({ method, route, status, fault }) => {
    pod.metrics.add("http_requests_total", { method, route, status: String(status) });
    if (fault !== undefined)
      pod.settings.log("error", "A request could not be answered", { method, route, error: messageOf(fault) });
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === "0.0.0.0" || address === "::" ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
