import { join } from "node:path";
import { hasPostgres, startPostgres } from "@steps/testkit/postgres-server";
import type { Row } from "../measure.ts";
import { artifacts } from "../pods/artifacts.ts";
import { LONG_HOLD } from "../pods/idle-runners.ts";
import { pickUp } from "../pods/pick-up.ts";
import { connectPod, jobRequest } from "../pods/pod-client.ts";
import { type ServerProcess, startPod, startRawHttp, startRouter, withoutPostgres } from "../pods/processes.ts";
import { recovery } from "../pods/recovery.ts";
import { routerCalls, routerShare } from "../pods/router.ts";
import { timeCalls } from "../pods/sequential.ts";
import { statements } from "../pods/statements.ts";
import { traces } from "../pods/traces.ts";

/** Pods on both databases and the router before them, against `node:http` alone. */
export async function pods(scratch: string): Promise<Row[]> {
  await using raw = await startRawHttp();
  const rows = await rowsOf("PGlite", undefined, { scratch, raw });
  if (!hasPostgres) return [...rows, withoutPostgres, ...(await router(scratch, raw, undefined))];
  const postgres = await startPostgres();
  try {
    rows.push(...(await rowsOf("PostgreSQL", postgres.createDatabase, { scratch, raw })));
    return [...rows, ...(await router(scratch, raw, postgres.createDatabase()))];
  } finally {
    await postgres.remove();
  }
}

/** A database of a pod, and what it is measured with. */
async function rowsOf(
  name: string,
  createDatabase: (() => string) | undefined,
  { scratch, raw }: { readonly scratch: string; readonly raw: ServerProcess },
): Promise<Row[]> {
  const tell = (part: string): void => void process.stderr.write(`bench: pods on ${name}: ${part}\n`);
  await using pod = await startPod({
    stateDir: join(scratch, `pod-${name}`),
    databaseUrl: createDatabase?.(),
    flags: LONG_HOLD,
  });
  const rows: Row[] = [];
  const keep = (more: readonly Row[]): void => {
    rows.push(...more);
    for (const row of more) tell(`${row.name}: ${row.measured}`);
  };
  using client = connectPod(pod.url, pod.adminToken);
  const call = (): ReturnType<typeof jobRequest> => jobRequest("", "s_floor");
  const [floor = []] = await timeCalls(500, [{ url: raw.url, call, status: 201 }]);
  tell("pick-up");
  keep(await pickUp(pod, client, name, floor));
  tell("statements");
  keep(await statements(pod, client, name));
  tell("traces");
  keep(await traces(pod, client, raw, name));
  tell("recovery");
  keep([await recovery(scratch, name, createDatabase?.())]);
  return rows;
}

/** A router before a pod whose answers are as fast as they get. */
async function router(scratch: string, raw: ServerProcess, databaseUrl: string | undefined): Promise<Row[]> {
  const flags = ["--artifact-limit", "1100"];
  await using pod = await startPod({ stateDir: join(scratch, "pod-router"), databaseUrl, flags });
  await using beforePod = await startRouter(scratch, pod.url);
  await using beforeRaw = await startRouter(scratch, raw.url);
  using client = connectPod(pod.url, pod.adminToken);
  return [
    await routerShare(raw, beforeRaw),
    ...(await routerCalls(pod, client, beforePod)),
    ...(await artifacts(pod, client, beforePod)),
  ];
}
