import { readdirSync, readFileSync } from "node:fs";

/** A script that ends when the spawner of the run that starts it is ready; only for a process that the run starts itself. */
export const untilReady = `found=; until [ -n "$found" ]; do for d in /proc/[0-9]*; do
  name=; { read -r name < $d/comm; } 2> /dev/null
  if [ "$name" = steps-spawner ] && grep -qs "^PPid:.$PPID\\$" $d/status; then found=1; fi
done; done`;

/** Whether the process that runs the script was started by a spawner. */
export const parentName = `cat /proc/$PPID/comm`;

/** The spawners that a process has, also those that ended and were not waited for. */
export function spawnersOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isSpawnerOf(name, parent))
    .map(Number);
}

function isSpawnerOf(pid: string, parent: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return status.startsWith("Name:\tsteps-spawner\n") && status.includes(`\nPPid:\t${parent}\n`);
  } catch {
    return false;
  }
}
