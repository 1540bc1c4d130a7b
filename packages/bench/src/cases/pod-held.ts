import { join } from "node:path";
import { hasPostgres, startPostgres } from "@steps/testkit/postgres-server";
import type { Row } from "../measure.ts";
import { heldPolls } from "../pods/held-polls.ts";
import { LONG_HOLD } from "../pods/idle-runners.ts";
import { type PodProcess, startDaemon, startPod, withoutPostgres } from "../pods/processes.ts";

/** The memory of pods on both databases, and of a daemon, that hold requests of runners. */
export async function podHeld(scratch: string): Promise<Row[]> {
  const stateDir = (name: string): string => join(scratch, `held-${name}`);
  const rows = [
    await held("PGlite", startPod({ stateDir: stateDir("pglite"), flags: LONG_HOLD })),
    await held("daemon, PGlite", startDaemon(stateDir("daemon"), LONG_HOLD)),
  ];
  if (!hasPostgres) return [...rows, withoutPostgres];
  const postgres = await startPostgres();
  try {
    const options = { stateDir: stateDir("postgres"), databaseUrl: postgres.createDatabase(), flags: LONG_HOLD };
    return [...rows, await held("PostgreSQL", startPod(options))];
  } finally {
    await postgres.remove();
  }
}

async function held(name: string, starting: Promise<PodProcess>): Promise<Row> {
  await using server = await starting;
  return await heldPolls(server, name);
}
