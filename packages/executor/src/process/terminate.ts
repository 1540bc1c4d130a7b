import { setTimeout as sleep } from "node:timers/promises";
import { sendSignal, signalGroup } from "@steps/platform/processes";
import {
  currentMoment,
  groupHasRunning,
  groupOf,
  hasVariable,
  holdsAny,
  isProcess,
  type Moment,
  ownProcesses,
  wasLastStarted,
} from "./proc.ts";

/** The variable that marks every process of a run, also of runs inside it: a list with commas. Never part of an event. */
export const COOKIE_VARIABLE = "STEP_RUNNER_COOKIE";

const POLL_MS = 20;
/** How often one search looks again at processes that change while it looks. */
const MAX_LOOKS = 5;
// After SIGKILL only the kernel stands between a process and its end.
const MAX_KILL_ROUNDS = 25;

/** How to end processes. */
export interface EndOptions {
  /** Only processes that are younger. */
  readonly since?: Moment | undefined;
  /** Ends the grace when it is aborted. */
  readonly hurry?: AbortSignal | undefined;
  /** Processes that are known to be others, and are not looked at: with a thousand steps at once, they are nearly all there are. */
  readonly others?: ReadonlySet<number> | undefined;
}

/** Ends a process group: TERM, unless it was told already, at most `graceMs` for it to go, KILL. */
export async function endGroup(
  pgid: number,
  graceMs: number,
  options: Pick<EndOptions, "hurry"> & { readonly wasTold?: boolean } = {},
): Promise<void> {
  const isAlive = (): boolean => signalGroup(pgid, 0) && groupHasRunning(pgid);
  if (options.wasTold !== true) signalGroup(pgid, "SIGTERM");
  const hasTime = timeLimit(graceMs, options.hurry);
  for (; hasTime(); await sleep(POLL_MS)) {
    if (!isAlive()) return;
  }
  for (let round = 0; round < MAX_KILL_ROUNDS && isAlive(); round++) {
    signalGroup(pgid, "SIGKILL");
    await sleep(POLL_MS);
  }
}

/**
 * Ends the processes of a run, or of several, that left their step's group: those of our own user whose environment has the cookie.
 * TERM, at most `graceMs` for them to go, KILL. Gives how many there were. A process that cleared its environment is found only without
 * `since`, and only in the group of one that did not: the journal of a runner that was killed need not name the group of the last step.
 */
export async function killSurvivors(
  cookie: string | ReadonlySet<string>,
  graceMs: number,
  options: EndOptions = {},
): Promise<number> {
  const cookies = typeof cookie === "string" ? new Set([cookie]) : cookie;
  const marked = (): Found => findMarked(cookies, options);
  const find = options.since === undefined ? withGroups(marked) : marked;
  return endProcesses(find, timeLimit(graceMs, options.hurry));
}

interface Found {
  readonly pids: readonly number[];
  /** There are processes, younger than the moment, that show no environment: perhaps they show one soon. */
  readonly isUnclear: boolean;
}

function findMarked(cookies: ReadonlySet<string>, { since, others }: EndOptions): Found {
  let isUnclear = false;
  const isOurs = (pid: number): boolean => {
    const isMarked = hasVariable(pid, COOKIE_VARIABLE, cookies);
    if (isMarked === undefined && since !== undefined) isUnclear = true;
    return isMarked === true && isProcess(pid);
  };
  const pids: number[] = [];
  let from = since;
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const now = currentMoment();
    pids.push(...ownProcesses(from, others).filter(isOurs));
    // One that has started another and ended before it was looked at would hide it.
    if (from === undefined || now === undefined || wasLastStarted(now)) break;
    from = now;
  }
  return { pids: [...new Set(pids)], isUnclear };
}

/** Finds the members of the groups, too, also when those are gone by whom the groups were found. */
function withGroups(find: () => Found): () => Found {
  let groups = new Set<number>();
  const own = groupOf(process.pid);
  return () => {
    const { pids: found } = find();
    for (const group of found.map(groupOf)) if (group !== undefined && group !== own) groups.add(group);
    if (groups.size === 0) return { pids: found, isUnclear: false };
    const members = ownProcesses().map((pid) => ({ pid, group: groupOf(pid) }));
    const wanted = members.filter(({ group }) => group !== undefined && groups.has(group));
    // A number without a member may soon be that of another group.
    groups = new Set(wanted.flatMap(({ group }) => group ?? []));
    return { pids: [...new Set([...found, ...wanted.map(({ pid }) => pid)])], isUnclear: false };
  };
}

/** Ends the processes of our own user that have one of these files open. */
export async function killHolders(
  paths: ReadonlySet<string>,
  graceMs: number,
  options: Pick<EndOptions, "hurry"> = {},
): Promise<number> {
  const find = (): Found => ({ pids: ownProcesses().filter((pid) => holdsAny(pid, paths)), isUnclear: false });
  return endProcesses(find, timeLimit(graceMs, options.hurry));
}

function timeLimit(graceMs: number, hurry: AbortSignal | undefined): () => boolean {
  const deadline = performance.now() + graceMs;
  return () => performance.now() < deadline && hurry?.aborted !== true;
}

async function endProcesses(find: () => Found, hasTime: () => boolean): Promise<number> {
  const found = new Set<number>();
  let alive = await findClearly(find);
  for (; alive.length > 0 && hasTime(); alive = await findClearly(find)) {
    for (const pid of alive) {
      // Once only: a program that cleans up on TERM must not be disturbed by the next one.
      if (!found.has(pid)) sendSignal(pid, "SIGTERM");
      found.add(pid);
    }
    await sleep(POLL_MS);
  }
  for (let round = 0; alive.length > 0 && round < MAX_KILL_ROUNDS; round++, alive = await findClearly(find)) {
    for (const pid of alive) {
      found.add(pid);
      sendSignal(pid, "SIGKILL");
    }
    await sleep(POLL_MS);
  }
  return found.size;
}

// A process that becomes another program has no environment for a moment, which is long where the disk or the processors are busy.
async function findClearly(find: () => Found): Promise<readonly number[]> {
  for (let looks = 0; ; looks++) {
    const { pids, isUnclear } = find();
    if (pids.length > 0 || !isUnclear || looks === MAX_LOOKS) return pids;
    await sleep(2 ** looks);
  }
}
