import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import type { Reaper } from "@steps/executor";
import { bootId, hasEnded, readProcessStat } from "@steps/platform";
import { randomHex } from "@steps/platform/runtime";
import { hasPrivateDirectory, privateDirectory, stateFailure } from "./directories.ts";

/** The private directory of one run: its journal, its logs, and what its steps need while they run. */
export interface RunDirectory {
  readonly traceId: string;
  readonly path: string;
  readonly journal: string;
  readonly logs: string;
  /** Removed when the run ends. */
  readonly tmp: string;
}

/** How many ended runs are kept, at least. */
const KEPT_RUNS = 100;
/** A run that has just ended is still read by its process, which may be one that lives long. */
const KEPT_AFTER_END_MS = 3_600_000;
/** Looking for what to forget takes longer than a short run, so that few runs do it. */
const SWEEP_EVERY = 10;

/** The two kinds of directories that there are below the state directory: of runs of jobs, and of pipelines of such runs. */
export type RunKind = "runs" | "pipelines";

/** The name of this process, see `ownerOf()`. */
let ownName: string | undefined;

/**
 * Makes the directory of a new run below the state directory. Names sort by time.
 *
 * @throws {EngineError} STATE_UNSAFE, STATE_UNUSABLE
 */
export function createRunDirectory(stateDir: string, kind: RunKind = "runs"): RunDirectory {
  const traceId = randomHex(16);
  const runs = runsDirectory(stateDir, kind);
  const path = join(runs, `${new Date().toISOString().replaceAll(/[-:.]/g, "")}-${traceId}`);
  const directory = describeRun(path, traceId);
  try {
    mkdirSync(path, { mode: 0o700 });
    mkdirSync(directory.tmp, { mode: 0o700 });
    writeFileSync(join(path, "owner"), (ownName ??= ownerOf(process.pid)), { mode: 0o600 });
  } catch (error) {
    rmSync(path, FORCED);
    throw stateFailure(path, error);
  }
  return directory;
}

/** All runs, the newest first; none where there is no folder, which is not made. @throws {EngineError} as for `hasPrivateDirectory()` */
export function listRuns(stateDir: string, kind: RunKind = "runs"): RunDirectory[] {
  const runs = join(stateDir, kind);
  if (!hasPrivateDirectory(stateDir) || !hasPrivateDirectory(runs)) return [];
  return readdirSync(runs)
    .filter((name) => /^\d{8}T\d+Z-[0-9a-f]{32}$/.test(name))
    .toSorted()
    .toReversed()
    .map((name) => describeRun(join(runs, name), name.slice(-32)));
}

/**
 * Marks runs as ended, and forgets the oldest ended ones beyond those that are kept.
 *
 * @param options.reaper removes them beside us, and after us. Default: they are gone when this returns
 */
export function closeRunDirectories(
  directories: readonly RunDirectory[],
  stateDir: string,
  { kind = "runs", reaper }: { readonly kind?: RunKind; readonly reaper?: Pick<Reaper, "removeTree"> | undefined } = {},
): void {
  // Nothing that ran has left anything, perhaps because no folder can be made.
  if (directories.length === 0) return;
  for (const { path } of directories) writeFileSync(join(path, "closed"), "", { mode: 0o600 });
  const { length } = readdirSync(runsDirectory(stateDir, kind));
  if (length <= KEPT_RUNS || length % SWEEP_EVERY >= directories.length) return;
  const old = listRuns(stateDir, kind)
    .slice(KEPT_RUNS)
    .filter((run) => !isAlive(run) || isLongClosed(run));
  forget(old, runsDirectory(stateDir, kind), reaper);
}

/** The folders in which runs wait for their removal; one that a killed runner has left goes with the next. */
const FORGOTTEN = "forgotten-";

// In one folder, so that one program removes them all, one after the other.
function forget(old: readonly RunDirectory[], runs: string, reaper: Pick<Reaper, "removeTree"> | undefined): void {
  if (old.length === 0) return;
  const folder = join(runs, `${FORGOTTEN}${randomHex(8)}`);
  mkdirSync(folder, { mode: 0o700 });
  for (const { path } of old) {
    try {
      renameSync(path, join(folder, basename(path)));
    } catch {
      // Another runner forgets it, too.
    }
  }
  for (const name of readdirSync(runs).filter((one) => one.startsWith(FORGOTTEN))) {
    const path = join(runs, name);
    if (reaper?.removeTree(path) === undefined) removeTree(path);
  }
}

/** Removes what a run's steps needed while they ran. What cannot be removed, such as files of another user, stays. */
export function removeTemporary(directory: RunDirectory): void {
  removeTree(directory.tmp);
}

function isLongClosed(directory: RunDirectory): boolean {
  const stat = statSync(join(directory.path, "closed"), { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > KEPT_AFTER_END_MS;
}

// Most jobs leave it empty, and Node has to load the part that removes whole trees. Folders that may not be written to,
// as caches of tools leave them, are opened first. No job fails because of what cannot be cleaned up.
function removeTree(path: string): void {
  for (const remove of [() => rmdirSync(path), () => rmSync(path, FORCED), () => rmSync(opened(path), FORCED)]) {
    try {
      remove();
      return;
    } catch {}
  }
}

const FORCED = { recursive: true, force: true } as const;

function opened(path: string): string {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) opened(join(path, entry.name));
  return path;
}

/** Whether a run wrote its last event. */
export function isClosed(directory: RunDirectory): boolean {
  return readOptional(join(directory.path, "closed")) !== undefined;
}

/** The number of the process that owns a run; it may have been given to another one since. */
export function ownerPidOf(directory: RunDirectory): number | undefined {
  const owner = readOptional(join(directory.path, "owner"));
  return owner === undefined ? undefined : Number(owner.split(" ")[0]);
}

/** Whether the process that owns a run still exists. */
export function isAlive(directory: RunDirectory): boolean {
  const owner = readOptional(join(directory.path, "owner"));
  const pid = Number(owner?.split(" ")[0]);
  return owner !== undefined && Number.isInteger(pid) && pid > 0 && ownerOf(pid) === owner;
}

/**
 * Returns a name for a process that no other ever has: its number is used again, but not with the same start time in the same
 * boot. The name is empty for a process that does not exist, or has ended and only waits for its parent.
 */
export function ownerOf(pid: number): string {
  const stat = readProcessStat(pid);
  const isGone = stat === undefined || hasEnded(stat);
  return isGone && pid !== process.pid ? "" : `${pid} ${stat?.startTime ?? "0"} ${bootId()}`;
}

/** Returns the paths of the parts of a run. */
export function describeRun(path: string, traceId: string): RunDirectory {
  return { traceId, path, journal: join(path, "trace.jsonl"), logs: join(path, "logs"), tmp: join(path, "tmp") };
}

function runsDirectory(stateDir: string, kind: RunKind): string {
  privateDirectory(stateDir);
  return privateDirectory(join(stateDir, kind));
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || (error as NodeJS.ErrnoException).code === "ESRCH")
      return undefined;
    throw error;
  }
}
