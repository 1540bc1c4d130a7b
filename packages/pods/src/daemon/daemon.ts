import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { DAEMON_NUMBER } from "@steps/pod-tokens";
import { countStatements } from "../database/count-statements.ts";
import type { Database } from "../database/database.ts";
import { openDatabase } from "../database/open-database.ts";
import { linkTokenOf } from "../link/link-token.ts";
import { countersOfPod } from "../pod/metrics.ts";
import { type RunnerHome, settingsOf } from "../pod/pod.ts";
import { JobQueue } from "../queue/job-queue.ts";
import { Managers } from "../runners/managers.ts";
import type { DaemonOptions } from "./daemon-options.ts";
import { PodLink } from "./pod-link.ts";
import { freeOffer, type Reservation, reserveOffers } from "./reserve-offers.ts";

/** A daemon in this process: everything that its calls need. */
export interface Daemon extends RunnerHome {
  readonly queue: JobQueue<Reservation>;
  readonly links: ReadonlyMap<number, PodLink>;
  /** The token of the link with a pod. */
  readonly linkToken: (pod: number) => string;
  readonly close: () => Promise<void>;
}

/**
 * Opens a daemon: its database, with the same tables as a pod's, and its links.
 *
 * @throws {DatabaseError} when the database cannot be used
 */
export async function openDaemon({ pods, ...options }: DaemonOptions): Promise<Daemon> {
  const settings = settingsOf({ ...options, pod: DAEMON_NUMBER });
  mkdirSync(settings.stateDir, { recursive: true, mode: 0o700 });
  const metrics = countersOfPod();
  const opened = await openDatabase({ url: settings.databaseUrl, stateDir: settings.stateDir, pod: DAEMON_NUMBER });
  const database = countStatements(opened, () => metrics.add("database_statements_total"));
  const secret = await secretOf(database);
  const linkToken = (pod: number): string => linkTokenOf(secret, pod);
  const links = new Map<number, PodLink>();
  for (const [number, url] of pods) {
    if (number === DAEMON_NUMBER) continue;
    links.set(number, new PodLink({ number, url, token: linkToken(number), log: settings.log }));
  }
  const queue = new JobQueue(database, DAEMON_NUMBER, {
    claim: async (capability, slots) => await reserveOffers(database, capability, slots, readyOf(links)),
    release: async (offer) => await freeOffer(database, offer),
    async hasJobs() {
      const [row] = await database.query<{ some: boolean }>(
        "SELECT EXISTS (SELECT FROM offers WHERE reserved_until IS NULL OR reserved_until < now()) AS some",
      );
      return row?.some === true;
    },
  });
  return {
    settings,
    database,
    queue,
    links,
    linkToken,
    managers: new Managers(),
    metrics,
    async close() {
      queue.close();
      await database.close();
    },
  };
}

function readyOf(links: ReadonlyMap<number, PodLink>): readonly number[] {
  return [...links.values()].filter(({ isReady }) => isReady).map(({ number }) => number);
}

async function secretOf(database: Database): Promise<string> {
  await database.query("INSERT INTO daemon (link_secret) VALUES ($1) ON CONFLICT DO NOTHING", [
    randomBytes(32).toString("base64url"),
  ]);
  const [row] = await database.query<{ link_secret: string }>("SELECT link_secret FROM daemon");
  return (row as NonNullable<typeof row>).link_secret;
}
