import { signalGroup } from "@steps/platform/processes";
import type { OutputPipePool, OutputPipes } from "../output/output-pipes.ts";
import { OutputPump } from "../output/output-pump.ts";
import { type Moment, wasLastStarted } from "./proc.ts";
import type { Permit } from "./process-limit.ts";
import type { Slots } from "./slots.ts";
import {
  hasNoRoom,
  isLost,
  type NotSpawned,
  type Spawned,
  type SpawnedEnd,
  type SpawnOrder,
} from "./spawner/spawned.ts";
import { spawnHere } from "./spawner/spawn-here.ts";
import type { Spawner } from "./spawner/spawner.ts";
import type { StepLog } from "../output/step-log.ts";
import { type SendSignal, Stop } from "./stop.ts";
import { endGroup, killHolders, killSurvivors } from "./terminate.ts";

/** A process to start. */
export interface ProcessPlan extends SpawnOrder {
  /** The mark by which the process is found again; it is in `env` too. */
  readonly cookie: string;
  readonly graceMs: number;
  readonly hurry: AbortSignal | undefined;
  readonly log: StepLog;
  readonly pipes: OutputPipePool;
  readonly spawner: Spawner;
  /** The limit of processes that are being started at the same time. */
  readonly starts: Slots;
  /** The right to have the process, which the caller gives back when it has ended. */
  readonly permit: Permit;
  /** Called when the system has no room for the process, and another attempt has to wait. */
  readonly onRefused: () => void;
  readonly onStarted: (pid: number) => void;
  /** Takes what the process leaves running, which then is not ended, unless the process was stopped. */
  readonly keep?: ((left: LeftRunning) => void) | undefined;
  /** Signals a process that is elsewhere and has this one as its client. Absent for a process of this system. */
  readonly sendSignal?: SendSignal | undefined;
}

/** The end of a process and of its output. */
export interface ProcessEnd extends SpawnedEnd {
  /** The error that the step's log threw. Absent when all the output was written. */
  readonly logFailure?: { readonly error: unknown };
}

/** The processes that a process has left running. */
export interface LeftRunning {
  /** The number of their group, which may be empty. */
  readonly pgid: number;
  /** Gives up their output, which is written nowhere. */
  destroy(): void;
}

/** The time that leftover processes have between TERM and KILL. */
const LEFTOVER_GRACE_MS = 500;
/** The time to wait for the end of the output after the exit before looking for another process that holds the pipe. */
const END_OF_OUTPUT_MS = 200;
const MAX_SILENCE_MS = 2000;
/** More than a pipe can hold: what comes beyond it after the end was written by somebody else. */
const MAX_AFTER_EXIT_BYTES = 4 * 1024 * 1024;

/** The processes of all steps that have not ended: their numbers are taken, and none of them is left behind by another step. */
const leaders = new Set<number>();

/**
 * Runs a process in a group of its own with nothing on its standard input. Ends when the process has ended, all its
 * output is written and nothing is left of its group, nor of what left the group: background children do not hold it up
 * and do not outlive it, unless somebody keeps them. When the signal is aborted the group gets TERM, and KILL after `graceMs` or
 * when `hurry` is aborted. A process that the system has no room for waits for the end of another; an abort ends that too.
 */
export async function runProcess(plan: ProcessPlan, signal: AbortSignal): Promise<ProcessEnd> {
  const { pipes, spawned } = await start(plan, signal);
  if (!("pid" in spawned)) return spawned;
  const { pid, streams } = spawned;
  let hasEnded = false;
  leaders.add(pid);
  const exit = spawned.exit.finally(() => {
    hasEnded = true;
    leaders.delete(pid);
  });
  const since = { lastPid: pid, atMs: Date.now() };
  const stop = new Stop(pid, plan.graceMs, { hurry: plan.hurry, send: plan.sendSignal });
  const pump = new OutputPump(plan.log, streams, () => stop.begin());
  const onAbort = (): void => stop.begin();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    plan.onStarted(pid);
    if (signal.aborted) stop.begin();
    const ended = await exit;
    if (plan.keep === undefined || stop.remainingMs !== undefined) {
      await endLeftovers(plan, stop, since);
      pump.settle();
      if (!pump.isEnded) await drain(pump, pipes, plan);
    } else {
      stop.end();
      pump.settle();
      if (!pump.isEnded) await leave(pump);
      if (!pump.isEnded || signalGroup(pid, 0)) plan.keep({ pgid: pid, destroy: () => pump.destroy() });
    }
    return pump.failure ? { ...ended, logFailure: pump.failure } : ended;
  } finally {
    // Only when the observer has thrown there is still something to end here.
    if (!hasEnded) {
      signalGroup(pid, "SIGKILL");
      await exit;
      await endGroup(pid, 0, { wasTold: true });
      pump.destroy();
    }
    signal.removeEventListener("abort", onAbort);
    stop.end();
    pipes.release(pump.isDrained);
  }
}

interface Attempt<Result> {
  readonly pipes: OutputPipes;
  readonly spawned: Result;
}

/** Starts the process, as soon as there is room. Gives the end instead where there is none, or was none before the abort. */
async function start(plan: ProcessPlan, signal: AbortSignal): Promise<Attempt<Spawned | ProcessEnd>> {
  for (;;) {
    const { pipes, spawned } = await tryToStart(plan);
    if ("pid" in spawned) return { pipes, spawned };
    const { spawnError } = spawned;
    if (isLost(spawnError)) await endUnknown(plan, pipes.paths);
    closeReaders(pipes);
    if (!hasNoRoom(spawnError)) return { pipes, spawned };
    if (!(await plan.permit.renew(signal, plan.onRefused))) return { pipes, spawned: signal.aborted ? {} : spawned };
  }
}

// Steps that all begin at once would otherwise all make their pipes before the first of them runs, and use none twice.
async function tryToStart(plan: ProcessPlan): Promise<Attempt<Spawned | NotSpawned>> {
  using slot = await plan.starts.take();
  void slot;
  const pipes = await plan.pipes.open();
  const asked = plan.spawner.spawn(plan, pipes);
  return { pipes, spawned: (asked && (await asked)) ?? (await spawnHere(plan, pipes)) };
}

async function endLeftovers(plan: ProcessPlan, stop: Stop, since: Moment): Promise<void> {
  if (wasLastStarted(since)) {
    stop.end();
    return;
  }
  const { cookie, hurry } = plan;
  const graceMs = Math.min(LEFTOVER_GRACE_MS, plan.graceMs);
  const pgid = since.lastPid;
  if (signalGroup(pgid, 0)) {
    const { remainingMs } = stop;
    await endGroup(pgid, remainingMs ?? graceMs, { wasTold: remainingMs !== undefined, hurry });
  }
  stop.end();
  await killSurvivors(cookie, graceMs, { since, hurry, others: leaders });
}

// It may have been started all the same, and be so young that it has no environment of its own yet.
async function endUnknown({ graceMs: given, cookie, hurry }: ProcessPlan, paths: ReadonlySet<string>): Promise<void> {
  const graceMs = Math.min(LEFTOVER_GRACE_MS, given);
  await killHolders(paths, graceMs, { hurry });
  await killSurvivors(cookie, graceMs, { hurry });
}

function closeReaders(pipes: OutputPipes): void {
  for (const stream of Object.values(pipes.streams ?? {})) stream.destroy();
  pipes.release(false);
}

// Somebody who left the group may hold the pipes open for ever; the end of a slow log is waited for.
async function drain(pump: OutputPump, pipes: OutputPipes, plan: ProcessPlan): Promise<void> {
  if (await isWithin(pump.ended, END_OF_OUTPUT_MS)) return;
  const graceMs = Math.min(LEFTOVER_GRACE_MS, plan.graceMs);
  if (pipes.paths.size > 0) await killHolders(pipes.paths, graceMs, { hurry: plan.hurry });
  const limit = pump.bytes + MAX_AFTER_EXIT_BYTES;
  let seen = pump.bytes;
  for (let silentMs = 0; silentMs < MAX_SILENCE_MS && pump.bytes <= limit; silentMs += 100) {
    if (await isWithin(pump.ended, 100)) return;
    if (pump.isWriting || pump.bytes !== seen) silentMs = 0;
    seen = pump.bytes;
  }
  pump.destroy();
  await isWithin(pump.ended, END_OF_OUTPUT_MS);
}

// The output of a process that goes on printing is read for END_OF_OUTPUT_MS more; what it prints later is dropped.
async function leave(pump: OutputPump): Promise<void> {
  if (!(await isWithin(pump.ended, END_OF_OUTPUT_MS))) await pump.mute();
}

function isWithin(promise: Promise<void>, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
