import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "./is-running.ts";

/** The start of the names of all folders with servers. */
export const POSTGRES_PREFIX = "steps-postgres-";

const OWNER = "test-process";
const PATIENCE_MS = 10_000;

/** Notes in the folder of a server that it belongs to this process. */
export function claimPostgresFolder(dir: string): void {
  writeFileSync(join(dir, OWNER), identityOf(process.pid));
}

/**
 * Removes the servers of processes that are gone. A server is known by its folder alone: the process that its file names is ended if
 * it runs with that folder, and nothing else is.
 */
export async function removeOldServers(folder: string = tmpdir()): Promise<void> {
  for (const name of readdirSync(folder)) {
    const dir = join(folder, name);
    if (!name.startsWith(POSTGRES_PREFIX) || hasOwner(dir)) continue;
    const pid = Number(read(join(dir, "data/postmaster.pid")).split("\n")[0]);
    if (pid > 1 && read(`/proc/${pid}/cmdline`).includes(`${dir}/`)) await end(pid);
    rmSync(dir, { recursive: true, force: true });
  }
}

async function end(pid: number): Promise<void> {
  process.kill(pid, "SIGQUIT");
  for (const until = performance.now() + PATIENCE_MS; isRunning(pid) && performance.now() < until;) await sleep(20);
}

/** A folder without a note counts as somebody's, who may be about to write it. */
function hasOwner(dir: string): boolean {
  const owner = read(join(dir, OWNER));
  return owner === "" || owner === identityOf(Number(owner.split(" ")[0]));
}

/** The number of a process and when it began, since numbers are given out again. */
function identityOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  return `${pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "gone"}`;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
