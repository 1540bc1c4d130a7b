import { join } from "node:path";
import { KnownTokens, MAX_BUILD_TOKEN_SECONDS } from "@steps/pod-tokens";
import type { ArtifactStore } from "../artifacts/store/artifact-store.ts";
import { openStore } from "../artifacts/store/open-store.ts";
import { countStatements } from "../database/count-statements.ts";
import type { Database } from "../database/database.ts";
import { openDatabase } from "../database/open-database.ts";
import { PodKeys } from "../keys/pod-keys.ts";
import type { ClaimedJob } from "../queue/claim-jobs.ts";
import { JobQueue } from "../queue/job-queue.ts";
import { pendingJobs } from "../queue/job-source.ts";
import { Managers } from "../runners/managers.ts";
import { databaseTraces } from "../traces/database-traces.ts";
import { fileTraces } from "../traces/file-traces.ts";
import { type KnownTraces, knowEnds } from "../traces/known-ends.ts";
import { countersOfPod, type PodCounters } from "./metrics.ts";
import type { PodOptions, PodSettings } from "./pod-options.ts";

/** A pod in this process: everything that its calls need. */
export interface Pod {
  readonly settings: PodSettings;
  /** The issuer of its tokens. It stays the same wherever the pod listens, so that tokens survive a move. */
  readonly issuer: string;
  readonly uuid: string;
  readonly database: Database;
  readonly keys: PodKeys;
  /** The build tokens that it has seen, so that their signatures are checked once. */
  readonly knownTokens: KnownTokens;
  readonly queue: JobQueue<ClaimedJob>;
  readonly managers: Managers;
  readonly traces: KnownTraces;
  readonly artifacts: ArtifactStore;
  readonly metrics: PodCounters;
  /** When somebody last read the trace of a job: its runner sends more often then. */
  readonly watched: Map<number, number>;
  readonly close: () => Promise<void>;
}

/** The part of a pod that keeps runners and answers them; a daemon has it, too. */
export type RunnerHome = Pick<Pod, "settings" | "database" | "managers" | "metrics">;

const MIB = 1024 * 1024;

/** The settings with their defaults. */
export function settingsOf(options: PodOptions): PodSettings {
  return {
    pod: options.pod ?? 1,
    stateDir: options.stateDir,
    databaseUrl: options.databaseUrl,
    url: options.url,
    pollHoldMs: options.pollHoldMs ?? 50_000,
    leaseSeconds: options.leaseSeconds ?? 60,
    artifactLimit: options.artifactLimit ?? 1024 * MIB,
    traceLimit: options.traceLimit ?? 64 * MIB,
    registrationToken: options.registrationToken,
    silenceSeconds: options.silenceSeconds ?? 3600,
    artifacts: options.artifacts,
    daemon: options.daemon,
    keepSeconds: options.keepSeconds,
    log: options.log ?? (() => {}),
  };
}

/**
 * Opens a pod: its database, keys and files.
 *
 * @throws {DatabaseError} when the database cannot be used
 * @throws {ArtifactStoreError} when the address of the store of artifacts is wrong
 */
export async function openPod(options: PodOptions): Promise<Pod> {
  const settings = settingsOf(options);
  const { stateDir, pod } = settings;
  const artifacts = await openStore({
    address: settings.artifacts,
    folder: join(stateDir, "artifacts"),
    maxBytes: settings.artifactLimit,
    onSilent: (reason) => settings.log("warning", "The store of artifacts does not answer yet", { reason }),
  });
  const metrics = countersOfPod();
  const opened = await openDatabase({ url: settings.databaseUrl, stateDir, pod });
  const database = countStatements(opened, () => metrics.add("database_statements_total"));
  const { keys, uuid } = await readIdentity(database);
  const queue = new JobQueue(database, pod, pendingJobs(database));
  const isEmbedded = database.kind === "embedded";
  const traces = knowEnds(isEmbedded ? fileTraces(join(stateDir, "traces"), database) : databaseTraces(database));
  return {
    settings,
    issuer: `urn:steps:pod:${pod}`,
    uuid,
    database,
    keys,
    knownTokens: new KnownTokens(),
    queue,
    managers: new Managers(),
    traces,
    artifacts,
    metrics,
    watched: new Map(),
    async close() {
      queue.close();
      await traces.close();
      await database.close();
    },
  };
}

/** Reads the keys and the name that the database of a pod keeps. Closes the database when it does not answer: an open one would keep the process. */
async function readIdentity(database: Database): Promise<Pick<Pod, "keys" | "uuid">> {
  try {
    const keys = await PodKeys.open(database, MAX_BUILD_TOKEN_SECONDS);
    const [row] = await database.query<{ uuid: string }>("SELECT uuid FROM pod");
    return { keys, uuid: row?.uuid ?? "" };
  } catch (error) {
    await database.close();
    throw error;
  }
}
