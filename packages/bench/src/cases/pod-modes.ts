import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { absolute, median, type Row } from "../measure.ts";
import { type Counts, startCluster } from "../pod-cluster.ts";
import { waitsUnderLoad } from "../pods/mode-load.ts";
import { ask, createJobs, end, type Mode } from "../pods/modes.ts";
import { percentile } from "../pods/sequential.ts";

const PICK_UPS = 20;
const WARM_UPS = 3;
const JOBS = 100;
const CLIENTS = 8;
const IDLE_RUNNERS = 1_000;
const IDLE_MS = 5_000;
const STRANDED = 20;
/** Long enough on a machine that has much else to do. */
const STRANDED_MS = 20_000;

/** The figures of one mode. */
interface Figures {
  readonly pickUps: number[];
  claimsPerSecond: number;
  cpuPerJob: number;
  perJob: Counts;
  waits: readonly number[];
  idleCpu: number;
  idleMemory: number;
  stranded: number;
}

/** The modes beside each other: two pods with the embedded database, and the same jobs for each. The first is the floor. */
export async function podModes(scratch: string): Promise<Row[]> {
  const starting = [
    startCluster(join(scratch, "plain"), 28_100, false),
    startCluster(join(scratch, "linked"), 28_200, true),
  ] as const;
  await using plain = await starting[0];
  await using linked = await starting[1];
  const modes: readonly Mode[] = [
    { name: "A direct", cluster: plain, home: (pod) => pod, url: (pod) => plain.podUrls[pod - 1] ?? "" },
    { name: "A router", cluster: plain, home: (pod) => pod, url: () => plain.routerUrl },
    { name: "B daemon", cluster: linked, home: () => 0, url: () => linked.routerUrl },
    { name: "C prefix", cluster: plain, home: (pod) => pod, url: (pod) => `${plain.routerUrl}/pods/${pod}` },
  ];
  // The first mode would pay for the programs' compilation, and for databases that have seen nothing.
  for (let round = 0; round < WARM_UPS; round++)
    for (const mode of modes) await drain(mode, `warm ${round} ${mode.name}`);
  const all = new Map<Mode, Figures>();
  for (const mode of modes) all.set(mode, await measure(mode));
  for (let round = 0; round < PICK_UPS; round++)
    for (const [mode, { pickUps }] of all) pickUps.push(await pickUp(mode, `latency ${mode.name}`));
  const [floor] = all.values();
  return [...all].flatMap(([mode, figures]) => rowsOf(mode, figures, floor as Figures));
}

async function measure(mode: Mode): Promise<Figures> {
  const { cluster, name } = mode;
  process.stderr.write(`bench: mode ${name}\n`);
  const stranded = await strand(mode);
  const toCount = await cluster.counts();
  const before = await cluster.counts();
  const cpu = cluster.cpu();
  const claimsPerSecond = await drain(mode, `drain ${name}`);
  const cpuPerJob = ((cluster.cpu() - cpu) / JOBS) * 1000;
  const after = await cluster.counts();
  // Without what the counting itself takes.
  const perJobOf = (count: keyof Counts): number => (after[count] - 2 * before[count] + toCount[count]) / JOBS;
  const perJob = {
    requests: perJobOf("requests"),
    statements: perJobOf("statements"),
    bytes: perJobOf("bytes"),
  };
  const waits = await waitsUnderLoad(mode);
  const idle = await hold(mode);
  return { pickUps: [], claimsPerSecond, cpuPerJob, perJob, waits, stranded, ...idle };
}

function rowsOf({ name }: Mode, figures: Figures, floor: Figures): Row[] {
  const row = (what: string, value: (of: Figures) => number, unit: string): Row => ({
    ...absolute(`${name}: ${what}`, { measured: value(figures), limit: Infinity, unit }),
    floor: `${value(floor).toFixed(2)} ${unit}`,
    ratio: value(floor) === 0 ? undefined : value(figures) / value(floor),
    target: "–",
  });
  return [
    row("pick-up, idle, median", ({ pickUps }) => median(pickUps), "ms"),
    row("jobs taken and ended", ({ claimsPerSecond }) => claimsPerSecond, "/s"),
    row("processor time of a job", ({ cpuPerJob }) => cpuPerJob, "ms"),
    row("requests of a job", ({ perJob }) => perJob.requests, ""),
    row("statements of a job", ({ perJob }) => perJob.statements, ""),
    row("bytes on the wire for a job, all hops", ({ perJob }) => perJob.bytes / 1024, "KiB"),
    row("wait under uneven load, median", ({ waits }) => median(waits), "ms"),
    row("wait under uneven load, p95", ({ waits }) => percentile(waits, 0.95), "ms"),
    row(`processor time of ${IDLE_RUNNERS} idle runners`, ({ idleCpu }) => idleCpu, "ms/s"),
    row(`memory with ${IDLE_RUNNERS} idle runners`, ({ idleMemory }) => idleMemory, "MiB"),
    row(`jobs of ${STRANDED} that wait while a runner elsewhere idles`, ({ stranded }) => stranded, ""),
  ];
}

/** From a job that is created to the runner that has it, which was waiting. */
async function pickUp(mode: Mode, tag: string): Promise<number> {
  const asked = ask(mode, 2, tag);
  await sleep(30);
  const start = performance.now();
  await createJobs(mode, 2, tag, 1);
  const job = await asked;
  const time = performance.now() - start;
  if (job !== undefined) await end(mode, 2, job);
  return time;
}

/** Jobs of both pods, all there before the first is taken: how many are taken and ended in a second. */
async function drain(mode: Mode, tag: string): Promise<number> {
  for (const pod of [1, 2]) await createJobs(mode, pod, tag, JOBS / 2);
  let left = JOBS;
  const stopped = new AbortController();
  const start = performance.now();
  const work = async (client: number): Promise<void> => {
    const pod = (client % 2) + 1;
    while (left > 0) {
      const job = await ask(mode, pod, tag, stopped.signal).catch(() => undefined);
      if (job === undefined) continue;
      await end(mode, pod, job);
      left -= 1;
      if (left === 0) stopped.abort();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));
  return JOBS / ((performance.now() - start) / 1000);
}

/** Requests that wait for nothing. */
async function hold(mode: Mode): Promise<{ readonly idleCpu: number; readonly idleMemory: number }> {
  const stopped = new AbortController();
  const all = Array.from({ length: IDLE_RUNNERS }, async (_, at) =>
    ask(mode, (at % 2) + 1, `idle ${mode.name} ${at % 10}`, stopped.signal).catch(() => undefined),
  );
  await sleep(5_000);
  const before = mode.cluster.cpu();
  await sleep(IDLE_MS);
  const idleCpu = ((mode.cluster.cpu() - before) * 1000) / (IDLE_MS / 1000);
  const idleMemory = mode.cluster.memory();
  stopped.abort();
  await Promise.all(all);
  return { idleCpu, idleMemory };
}

/** Jobs of pod 2 for which only a runner that was made at pod 1, or at the daemon, has the tags: how many it does not get. */
async function strand(mode: Mode): Promise<number> {
  const tag = `stranded ${mode.name}`;
  await createJobs(mode, 2, tag, STRANDED);
  let waiting = STRANDED;
  const over = AbortSignal.timeout(STRANDED_MS);
  while (waiting > 0 && !over.aborted) {
    const job = await ask(mode, 1, tag, over).catch(() => undefined);
    if (job === undefined) continue;
    waiting -= 1;
    await end(mode, 2, job);
  }
  return waiting;
}
