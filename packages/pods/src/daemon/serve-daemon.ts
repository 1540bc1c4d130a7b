import { checkOptionNames, type OptionNames } from "@steps/model";
import type { ServedPod } from "../serve/serve-pod.ts";
import { type ListenOptions, serveRoutes } from "../serve/serve-routes.ts";
import { openDaemon } from "./daemon.ts";
import type { DaemonOptions } from "./daemon-options.ts";
import { daemonRoutes } from "./daemon-routes.ts";

const OPTION_NAMES: OptionNames<DaemonOptions> = {
  pods: true,
  stateDir: true,
  databaseUrl: true,
  url: true,
  pollHoldMs: true,
  log: true,
};

/**
 * Serves a daemon: runners of the whole cluster ask it for jobs, which it claims at the pods that offer them. Its address is written into the
 * state directory, as that of a pod is.
 *
 * @throws {DatabaseError} when the database cannot be used; the system's error when the port is taken
 */
export async function serveDaemon(options: DaemonOptions, where: ListenOptions): Promise<ServedPod> {
  checkOptionNames("serveDaemon()", options, OPTION_NAMES);
  const daemon = await openDaemon(options);
  try {
    const { url, adminToken, close } = await serveRoutes(daemon, (token) => daemonRoutes(daemon, token), where);
    return {
      url,
      adminToken,
      async stop(options) {
        daemon.queue.close();
        await close(async () => {}, options);
        await daemon.close();
      },
    };
  } catch (error) {
    await daemon.close();
    throw error;
  }
}
