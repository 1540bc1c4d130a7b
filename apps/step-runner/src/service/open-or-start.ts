import { mkdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { userDirectories } from "@steps/engine/runs";
import { messageOf } from "@steps/model";
import { socketPlaces } from "@steps/model/socket-path";
import { livenessOf, parseIdentity } from "@steps/platform";
import { startDetached } from "@steps/platform/processes";
import { launcherDirectory } from "../launcher.ts";
import { type OpenedSocket, openSocket } from "./open-socket.ts";

const START_MS = 30_000;
const POLL_MS = 25;
/** A service that ended for another one, which was started at the same time, leaves that one this long to listen. */
const OTHER_MS = 2000;
/** A log that has become longer is put aside when the next service starts. */
const MAX_LOG_BYTES = 1024 * 1024;
const FLAGS = ["--require-token", "--retention=168h", "--idle-timeout=10m"];

/**
 * A connection to the service of this user, at the path that was given or at its own place, where one is started that outlives us
 * unless it is there. The place that users share is not looked at: anybody may listen there.
 */
export async function openOrStart(given: string | undefined): Promise<OpenedSocket> {
  const path = given === undefined ? socketPlaces(process.env).own : resolve(given);
  const opened = await openSocket(path);
  if (opened.socket !== undefined) return opened;
  try {
    return await start(path);
  } catch (error) {
    return { problem: `No service could be started: ${messageOf(error)}` };
  }
}

async function start(path: string): Promise<OpenedSocket> {
  const { state } = userDirectories(process.env);
  const program = join(launcherDirectory(state), "step-runner");
  const folder = join(state, "service");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const log = join(folder, "serve.log");
  const earlier = putAside(log);
  const identity = await startDetached({ program, args: ["serve", `--socket=${path}`, ...FLAGS], env: ownEnv(), log });
  if (identity === undefined) return { problem: `No service could be started: "${program}" cannot be run` };
  let end = performance.now() + START_MS;
  for (let isGone = false; performance.now() < end; await delay(POLL_MS)) {
    const opened = await openSocket(path);
    if (opened.socket !== undefined) return opened;
    if (isGone || isAlive(identity)) continue;
    isGone = true;
    end = performance.now() + OTHER_MS;
  }
  return { problem: `The service that was started does not listen on "${path}"${lastLines(log, earlier)}` };
}

// The connection of whoever came first says nothing of the jobs that others start.
function ownEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SSH_")));
}

function isAlive(identity: string): boolean {
  const process = parseIdentity(identity);
  return process !== undefined && livenessOf(process) === "alive";
}

/** Keeps a log from growing without end. Gives the bytes that earlier services have left in it. */
function putAside(log: string): number {
  const { size } = statSync(log, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size <= MAX_LOG_BYTES) return size;
  try {
    renameSync(log, `${log}.1`);
  } catch (error) {
    // Others that start a service at this moment may have put it aside.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return 0;
}

function lastLines(log: string, earlier: number): string {
  const lines = readFileSync(log).subarray(earlier).toString().trim().split("\n").slice(-3).join("; ").slice(-1000);
  return lines === "" ? "" : `: ${lines}`;
}
