import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { errors } from "@steps/console/terminal";
import type { Log } from "@steps/model/operation";
import { privateDirectory, userDirectories } from "@steps/engine/runs";
import { sha256 } from "@steps/platform";
import {
  createService,
  type JobTable,
  type JobTableOptions,
  openJobTable,
  runSession,
  type Service,
  ServiceError,
} from "@steps/service";
import {
  assertSocketFree,
  drainJobs,
  drainListeners,
  listenPort,
  listenUnix,
  type Listener,
  stopService,
} from "@steps/service/listen";
import { cacheOptions } from "../flags/cache-options.ts";
import { readLock, sourcesOf } from "../flags/component-flags.ts";
import { hideEnvironment } from "../environment/hide-environment.ts";
import { launcherDirectory, withLauncher } from "../launcher.ts";
import type { EngineFlagOptions } from "../open-engine.ts";
import type { JobTableOptions as JobTableFlagOptions, PortOptions } from "../flags/serve-flags.ts";
import { VERSION } from "../version.ts";

/** A service that runs in this process. */
export interface RunningService {
  readonly jobs: JobTable;
  readonly listeners: readonly Listener[];
  /** Says on standard error where the service listens, and with what token if one was made. */
  announce(): void;
  /** Takes no new jobs, and waits for those that run and for their followers; for nothing once `giveUp` is aborted. */
  drain(giveUp: AbortSignal): Promise<void>;
  /** Takes no new calls and waits for those that run, but not longer than this. */
  finishCalls(timeoutMs: number): Promise<boolean>;
  /** Ends all jobs and then the service. Once `hurry` is aborted the jobs have no grace any more. */
  stop(hurry: AbortSignal): Promise<void>;
  /** See `runSession()` of the service. */
  runSession(command: readonly string[], signal: AbortSignal): Promise<number>;
}

/** The addresses at which a service listens. */
export interface ServicePlaces {
  readonly socket?: string;
  readonly port?: number;
}

/** The options of a command that say something about the service; one that is absent has the service's default. */
export type ServiceOptions = EngineFlagOptions &
  Partial<PortOptions & Pick<JobTableFlagOptions, "retention" | "maxJobs" | "strictEnv">> & {
    /** Refuses jobs that come without a token of their own. Default: false. */
    readonly requireToken?: boolean;
  };

/** How many services on a port may run at once over one state directory. */
const MAX_COPIES = 100;

/** Starts a service as the options of a command want it. */
export async function startService(
  options: ServiceOptions,
  places: ServicePlaces,
  log: Log = () => undefined,
): Promise<RunningService> {
  hideEnvironment();
  // The socket is checked before the state is locked, so that a second service is told that one is running.
  if (places.socket !== undefined) await assertSocketFree(places.socket);
  const jobs = await openTable(options, places, log);
  const service = createService({ jobs, log, requiresToken: options.requireToken });
  const listeners: Listener[] = [];
  try {
    if (places.socket !== undefined) listeners.push(await listenUnix(service, places.socket));
    const token = places.port === undefined ? undefined : await openPort(options, { service, listeners }, places.port);
    return {
      jobs,
      listeners,
      announce: () => announce(listeners, token),
      drain: (giveUp) => drainJobs(service, listeners, giveUp),
      finishCalls: (timeoutMs) => drainListeners(listeners, timeoutMs),
      stop: (hurry) => stopOrHurry(hurry, { service, listeners }),
      runSession,
    };
  } catch (error) {
    await stopService(service, listeners);
    throw error;
  }
}

async function stopOrHurry(
  hurry: AbortSignal,
  { service, listeners }: { readonly service: Service; readonly listeners: readonly Listener[] },
): Promise<void> {
  const hurryAll = (): void => {
    for (const job of service.jobs.list()) job.hurry();
  };
  hurry.addEventListener("abort", hurryAll);
  if (hurry.aborted) hurryAll();
  try {
    await stopService(service, listeners);
  } finally {
    hurry.removeEventListener("abort", hurryAll);
  }
}

/** Returns what the options of a command say about the jobs of a service. */
export function tableOptions(given: ServiceOptions): Omit<JobTableOptions, "stateDir" | "env" | "log" | "lock"> {
  return {
    runner: { name: "step-runner", version: VERSION },
    cache: cacheOptions(given),
    // Not from open-engine.ts, which loads the engine.
    program: (stateDir) => join(launcherDirectory(stateDir), "step-runner"),
    allowedExports: given.allowExport,
    cacheDir: given.cacheDir,
    traceSync: given.traceSync,
    sources: sourcesOf(given).map(({ source }) => source),
    isStrictEnv: given.strictEnv,
    limits: { retentionMs: given.retention, maxJobs: given.maxJobs },
  };
}

async function openTable(given: ServiceOptions, places: ServicePlaces, log: Log): Promise<JobTable> {
  const state = given.stateDir ?? userDirectories(process.env).state;
  const lock = readLock(given);
  privateDirectory(state);
  const options: Omit<JobTableOptions, "stateDir"> = {
    ...tableOptions(given),
    env: withLauncher(process.env, state),
    log,
    lock,
  };
  const place = places.socket ?? `port ${places.port}`;
  for (let copy = 1; ; copy += 1) {
    const name = sha256(copy === 1 ? place : `${place} ${copy}`).slice(0, 16);
    try {
      return await openJobTable({ ...options, stateDir: join(state, "service", name) });
    } catch (error) {
      // Many services that take any free port may run at once, so each takes the next folder for its state. If a fixed
      // port is taken, listening on it says so.
      const isNext = places.socket === undefined && error instanceof ServiceError && error.code === "STATE_IN_USE";
      if (!isNext || copy === MAX_COPIES) throw error;
    }
  }
}

/** Gives the token if one was made. */
async function openPort(
  { insecureAnyClient, host }: ServiceOptions,
  { service, listeners }: { readonly service: Service; readonly listeners: Listener[] },
  port: number,
): Promise<string | undefined> {
  const given = process.env["STEP_RUNNER_TOKEN"];
  // Not for the steps, which start from the environment of this process.
  delete process.env["STEP_RUNNER_TOKEN"];
  const made = given === undefined || given === "" ? randomBytes(24).toString("base64url") : undefined;
  const token = insecureAnyClient === true ? undefined : (made ?? given);
  listeners.push(await listenPort(service, { port, token, host }));
  return token === undefined ? undefined : made;
}

// Runners wait for this very line.
function announce(listeners: readonly Listener[], token: string | undefined): void {
  const rows = listeners.map(({ address }) =>
    address.startsWith("/")
      ? `step-runner is listening on socket ${address}\n`
      : `step-runner is listening on ${address}${token === undefined ? "" : ` with token ${token}`}\n`,
  );
  void errors.write(Buffer.from(rows.join("")));
}
