import { setTimeout as delay } from "node:timers/promises";
import { isStepsError, messageOf } from "@steps/model";
import type { Log } from "@steps/model/operation";
import type { JobAnswer, RunnerApi } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import type { RunnerConfig } from "../config/runner-config.ts";
import { runnerInfo } from "../runner-info.ts";
import type { Health } from "./health.ts";
import type { Right, Rights } from "./rights.ts";

/** A runner that asks for jobs. */
export interface PolledRunner {
  /** The name of the runner among those of the process. */
  readonly key: string;
  /** As they are now: the token changes from time to time. */
  readonly config: () => RunnerConfig;
  readonly api: Pick<RunnerApi, "requestJob">;
  readonly systemId: string;
  readonly rights: Rights;
  readonly health: Health;
  readonly checkIntervalMs: number;
  /** Takes a job; its right is the job's to release. */
  readonly onJob: (payload: JobPayload, right: Right) => void;
  readonly log: Log;
}

/**
 * Asks for jobs until the signal aborts, with one request at a time. A request that the server holds then is not cut off at once,
 * because its answer may be a job: it is waited for, five seconds at most.
 */
export async function pollRunner(runner: PolledRunner, signal: AbortSignal): Promise<void> {
  let lastUpdate: string | undefined;
  const told = { last: "" };
  const log: Log = (...line) => sayOnce(runner, told, line);
  const asked = { ...runner, log };
  while (!signal.aborted) {
    const right = await takeRight(runner, signal);
    if (right === undefined) return;
    const begin = performance.now();
    const answer = await ask(asked, lastUpdate, signal);
    if (answer?.status === 201 || answer?.status === 204) told.last = "";
    if (answer?.payload === undefined) right.release();
    else runner.onJob(answer.payload, right);
    lastUpdate = answer?.lastUpdate ?? lastUpdate;
    // After a job there may be another one.
    if (answer?.payload !== undefined) continue;
    await pause(runner.checkIntervalMs - (performance.now() - begin), signal);
  }
}

// A server that is down for hours fills no log.
function sayOnce({ log }: PolledRunner, told: { last: string }, line: Parameters<Log>): void {
  const text = JSON.stringify(line);
  if (text !== told.last) log(...line);
  told.last = text;
}

async function takeRight(
  { key, config, rights, health }: PolledRunner,
  signal: AbortSignal,
): Promise<Right | undefined> {
  while (health.offForMs > 0 && !signal.aborted) await pause(Math.min(health.offForMs, 60_000), signal);
  return await rights.wait(key, config().limit, signal).catch(() => undefined);
}

/** How long the answer to a request is waited for when the runner ends: a server holds one for a minute. */
const LAST_WORD_MS = 5_000;
const NO_JOB = "A runner got no job";
const REFUSED = "A runner is refused: its token is not valid";
const REFUSED_FOR_NOW = `${REFUSED}; it does not ask again for a while`;

async function ask(
  runner: PolledRunner,
  lastUpdate: string | undefined,
  signal: AbortSignal,
): Promise<JobAnswer | undefined> {
  const { api, systemId, health, log } = runner;
  const config = runner.config();
  const facts = { runner: config.name, url: config.url };
  const cut = new AbortController();
  const onAbort = (): void => void setTimeout(() => cut.abort(), LAST_WORD_MS).unref();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const request = { token: config.token, system_id: systemId, last_update: lastUpdate, info: runnerInfo(config) };
    const answer = await api.requestJob(request, { signal: cut.signal });
    if (answer.status === 403) {
      log("warning", health.noteRefused() ? REFUSED_FOR_NOW : REFUSED, facts);
      return answer;
    }
    health.noteHealthy();
    if (answer.status !== 201 && answer.status !== 204 && answer.status !== 409) {
      log("warning", NO_JOB, { ...facts, status: answer.status, reason: answer.message });
    }
    return answer;
  } catch (error) {
    if (!isStepsError(error)) throw error;
    if (error.code === "CLIENT_CONFIG") health.noteRefused();
    if (error.code !== "CANCELLED") log("warning", NO_JOB, { ...facts, reason: messageOf(error) });
    return undefined;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => undefined);
}
