import { checkOptionNames, type OptionNames } from "@steps/model";
import { adminRoutes } from "../admin/admin-routes.ts";
import { runnerApiRoutes } from "../api/runner-api-routes.ts";
import { linkRoutes } from "../link/link-routes.ts";
import { switchOutbox } from "../link/outbox.ts";
import { OfferPublisher } from "../link/publisher.ts";
import { openPod } from "../pod/pod.ts";
import type { PodOptions } from "../pod/pod-options.ts";
import { Sweeper } from "../sweep/sweeper.ts";
import { publicRoutes } from "./public-routes.ts";
import { type ListenOptions, serveRoutes, type StopOptions } from "./serve-routes.ts";

/** A pod or a daemon that listens. */
export interface ServedPod {
  /** The URL for runners. */
  readonly url: string;
  /** The token of the admin API. */
  readonly adminToken: string;
  /** Answers all who wait, lets calls end that are under way, and closes the database. */
  readonly stop: (options?: StopOptions) => Promise<void>;
}

const OPTION_NAMES: OptionNames<PodOptions> = {
  pod: true,
  stateDir: true,
  databaseUrl: true,
  url: true,
  pollHoldMs: true,
  leaseSeconds: true,
  artifacts: true,
  artifactLimit: true,
  traceLimit: true,
  registrationToken: true,
  silenceSeconds: true,
  daemon: true,
  keepSeconds: true,
  log: true,
};

/**
 * Serves a pod: the runner API, the admin API, metrics and health. Its address is written into the state directory, where the
 * commands of the same user find it.
 *
 * @throws {DatabaseError} when the database cannot be used; the system's error when the port is taken
 */
export async function servePod(options: PodOptions, where: ListenOptions): Promise<ServedPod> {
  checkOptionNames("servePod()", options, OPTION_NAMES);
  const pod = await openPod(options);
  const { daemon } = pod.settings;
  try {
    await switchOutbox(pod.database, daemon !== undefined);
    const { url, adminToken, close } = await serveRoutes(
      pod,
      (token) => [...runnerApiRoutes(pod), ...adminRoutes(pod, token), ...publicRoutes(pod), ...linkRoutes(pod)],
      where,
    );
    const sweeper = new Sweeper(pod);
    const publisher = daemon === undefined ? undefined : new OfferPublisher(pod, daemon);
    return {
      url,
      adminToken,
      async stop(options) {
        pod.queue.close();
        await close(async () => {
          await publisher?.close();
          await sweeper.close();
        }, options);
        await pod.close();
      },
    };
  } catch (error) {
    await pod.close();
    throw error;
  }
}
