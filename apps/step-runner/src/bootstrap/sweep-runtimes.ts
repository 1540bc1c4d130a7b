import { readdirSync, readFileSync, readlinkSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { runtimePrefix } from "./install-runtime.ts";

/** How long a runtime stays that no launcher names any more: containers that we cannot see may still use it. */
const SUPERSEDED_MS = 86_400_000;

/** The folder and the name prefix of a launcher's runtimes. */
export interface RuntimePlace {
  readonly dir: string;
  /** The name of the launcher. */
  readonly launcher: string;
}

/** Notes on the runtime that the launcher named until now that its time runs from here. */
export function markSuperseded({ dir, launcher }: RuntimePlace, next: string): void {
  for (const name of runtimesIn({ dir, launcher })) {
    if (name !== next && names(join(dir, launcher), name)) ignoreErrors(() => touch(join(dir, name)));
  }
}

/** Removes the runtimes of a launcher that were replaced more than a day ago and that no process we can see runs in. */
export function sweepRuntimes({ dir, launcher }: RuntimePlace, current: string): void {
  const before = Date.now() - SUPERSEDED_MS;
  const old = runtimesIn({ dir, launcher }).filter(
    (name) => name !== current && (statSync(join(dir, name), { throwIfNoEntry: false })?.mtimeMs ?? before) < before,
  );
  if (old.length === 0) return;
  const used = runningPrograms();
  for (const name of old) {
    const path = join(dir, name);
    // Files that we may not remove stay; they only take room.
    if (!used.some((program) => program.startsWith(`${path}/`)))
      ignoreErrors(() => rmSync(path, { recursive: true, force: true }));
  }
}

function runtimesIn({ dir, launcher }: RuntimePlace): string[] {
  return readdirSync(dir).filter((name) => name.startsWith(runtimePrefix(launcher)));
}

function names(launcher: string, runtime: string): boolean {
  try {
    return readFileSync(launcher).includes(`${runtime}/`);
  } catch {
    // There is none, or it is not ours to read.
    return false;
  }
}

function touch(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}

function runningPrograms(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readlinkSync(`/proc/${pid}/exe`)];
      } catch {
        // It ended, or belongs to somebody else.
        return [];
      }
    });
}

function ignoreErrors(action: () => void): void {
  try {
    action();
  } catch {}
}
