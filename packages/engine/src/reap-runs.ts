import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endGroup, killSurvivors } from "@steps/executor";
import { removeContainers } from "./remove-containers.ts";
import { isAlive, isClosed, listRuns, ownerPidOf, removeTemporary, type RunDirectory } from "./run-directory.ts";

/** How long a killed process may take until the system says that it is gone. */
const MAX_WAIT_MS = 10_000;
const POLL_MS = 20;
const GRACE_MS = 2_000;
/** Processes that were just being started when they were looked for the first time. */
const ROUNDS = 6;
const ROUND_MS = 300;

/**
 * Returns the command that a `Reaper` runs when this process is gone. @param program that does `reap PID DIR` by
 * `reapRuns()`
 */
export function reaperCommand(program: string, stateDir: string): string[] {
  return [program, "reap", String(process.pid), stateDir];
}

/**
 * Ends what is left of the runs of a process that was killed: TERM, two seconds, KILL; groups, what left them, and containers
 * of actions. Removes what the steps needed while they ran, texts with secrets among it. The journals stay as they are.
 */
export async function reapRuns(pid: number, stateDirs: readonly string[]): Promise<void> {
  const runs = stateDirs
    .filter((dir) => existsSync(join(dir, "runs")))
    .flatMap((dir) => listRuns(dir))
    .filter((run) => ownerPidOf(run) === pid && !isClosed(run));
  const gone: RunDirectory[] = [];
  for (const run of runs) if (await hasEnded(run)) gone.push(run);
  if (gone.length === 0) return;
  await Promise.all(gone.flatMap(openGroups).map((pgid) => endGroup(pgid, GRACE_MS)));
  const cookies = new Set(gone.map((run) => run.traceId));
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) await sleep(ROUND_MS);
    await killSurvivors(cookies, GRACE_MS);
  }
  for (const run of gone) {
    if (usedContainers(run)) await removeContainers(run.traceId);
    removeTemporary(run);
  }
}

async function hasEnded(run: RunDirectory): Promise<boolean> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (; isAlive(run); await sleep(POLL_MS)) if (performance.now() > deadline) return false;
  return true;
}

/** The groups of steps that have begun and not ended. A group that still has a member keeps its number. */
function openGroups(run: RunDirectory): number[] {
  const open = new Map<string, number>();
  for (const event of eventsOf(run)) {
    if (event.type === "process-started" && isGroup(event.pid)) open.set(event.path ?? "", event.pid);
    else if (event.type === "step-finished") open.delete(event.path ?? "");
  }
  return [...open.values()];
}

function isGroup(pid: number | undefined): pid is number {
  return Number.isInteger(pid) && Number(pid) > 1;
}

function usedContainers(run: RunDirectory): boolean {
  return eventsOf(run).some(({ type, command }) => type === "process-starting" && command?.[0] === "docker");
}

interface Line {
  readonly type?: string;
  readonly path?: string;
  readonly pid?: number;
  readonly command?: readonly unknown[];
}

// A journal whose last line was cut has all that came before.
function eventsOf({ journal }: RunDirectory): Line[] {
  if (!existsSync(journal)) return [];
  return readFileSync(journal, "utf8")
    .split("\n")
    .flatMap((line) => {
      if (!line.includes('"process-') && !line.includes('"step-finished"')) return [];
      try {
        return [JSON.parse(line) as Line];
      } catch {
        return [];
      }
    });
}
