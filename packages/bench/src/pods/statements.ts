import { setTimeout as sleep } from "node:timers/promises";
import { atMost, type Row } from "../measure.ts";
import { startIdleRunners } from "./idle-runners.ts";
import type { PodClient } from "./pod-client.ts";
import type { PodProcess } from "./processes.ts";

const JOBS = 12;
const KINDS = 4;

/** The statements for a job from its creation to its answer: they must not depend on how many runners wait, only on their kinds. */
export async function statements(pod: PodProcess, client: PodClient, database: string): Promise<Row[]> {
  const counts: number[] = [];
  for (const [kinds, machines] of [
    [KINDS, 10],
    [KINDS, 1000],
    [1, 1000],
  ] as const)
    counts.push(await countStatements(pod, client, kinds, machines));
  const [few = 0, thousand = 0, oneKind = 0] = counts;
  return [
    atMost(`statements for a job, 1,000 runners : 10 runners, of ${KINDS} kinds [${database}]`, {
      floor: few,
      measured: thousand,
      limit: 1,
      unit: "",
    }),
    atMost(`statements for each further kind of 1,000 runners : one claim [${database}]`, {
      floor: 1,
      measured: (thousand - oneKind) / (KINDS - 1),
      limit: 1,
      unit: "",
    }),
  ];
}

/** The fewest of several jobs: what the pod does besides, every second or two, falls on some of them. */
async function countStatements(pod: PodProcess, client: PodClient, kinds: number, machines: number): Promise<number> {
  const tags = Array.from({ length: kinds }, (_, i) => `kind-${kinds}-${machines}-${i}`);
  const tokens = await Promise.all(tags.map(async (tag) => await client.createRunner([tag])));
  let onReceived = (): void => undefined;
  let release = (): void => undefined;
  const runners = await startIdleRunners(pod, {
    tokens,
    machines,
    // The machine says nothing more before everything is counted.
    onJob: async (job) => {
      onReceived();
      await new Promise<void>((done) => (release = done));
      await client.update(job, "success");
    },
  });
  let fewest = Infinity;
  for (let i = 0; i < JOBS; i++) {
    const received = new Promise<void>((done) => (onReceived = done));
    const before = await client.metric("database_statements_total");
    await client.createJobs(1, { tags: [tags[i % kinds] as string] });
    await received;
    // The other kinds look, too.
    await sleep(60);
    fewest = Math.min(fewest, (await client.metric("database_statements_total")) - before);
    release();
    while ((await client.metric("held_requests")) < machines) await sleep(20);
  }
  await runners.stop();
  return fewest;
}
