import { absolute, type Row } from "../measure.ts";
import { connectHttp, type Call } from "./http-client.ts";
import type { PodClient, ReceivedJob } from "./pod-client.ts";
import type { PodProcess, ServerProcess } from "./processes.ts";

const JOBS = 8;
/** Rounds with and without the pod in turn, so that what the machine does besides falls on both; the best of each counts. */
const ROUNDS = 3;
const SECONDS = 2;
const TARGET = 1500;
/** The same as a share of what `node:http` answers: 7,700 a second where two processors had little else to do. */
const SHARE = 0.2;
const BYTES = Buffer.from(`${"x".repeat(99)}\n`.repeat(10));

/** Appends to the traces of several jobs at once, against the same calls to `node:http`. */
export async function traces(pod: PodProcess, client: PodClient, raw: ServerProcess, database: string): Promise<Row[]> {
  const token = await client.createRunner(["traces"]);
  await client.createJobs(JOBS, { tags: ["traces"] });
  const jobs: ReceivedJob[] = [];
  while (jobs.length < JOBS) {
    const { job } = await client.requestJob(token, "s_traces");
    if (job !== undefined) jobs.push(job);
  }
  const sizes = new Map<number, number>();
  const floors: Round[] = [];
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    floors.push(await appendsPerSecond(raw, { jobs, status: 201, sizes: new Map() }));
    rounds.push(await appendsPerSecond(pod, { jobs, status: 202, sizes }));
  }
  const floor = Math.max(...floors.map(({ rate }) => rate));
  const rate = Math.max(...rounds.map(({ rate }) => rate));
  const processor = Math.min(...rounds.map(({ processor }) => processor));
  const size = `${BYTES.length} bytes`;
  return [
    {
      name: `trace appends of ${size}, ${JOBS} jobs : node:http [${database}]`,
      floor: `${floor.toFixed(0)} /s`,
      measured: `${rate.toFixed(0)} /s`,
      ratio: rate / floor,
      target: `≥ ${SHARE}`,
      isMet: rate / floor >= SHARE,
    },
    {
      name: `trace appends of ${size}, ${JOBS} jobs [${database}]`,
      floor: "–",
      measured: `${rate.toFixed(0)} /s`,
      ratio: undefined,
      target: `≥ ${TARGET} /s`,
      isMet: rate >= TARGET,
    },
    // On a machine with other work, the time of the processor says more than that of the clock.
    absolute(`processor time of the pod for an append [${database}]`, {
      measured: processor,
      limit: Math.round(1e5 / TARGET) / 100,
      unit: "ms",
    }),
  ];
}

interface Round {
  readonly rate: number;
  /** Milliseconds of a processor for an append. */
  readonly processor: number;
}

/** The sizes are those of the traces so far, by the ids of their jobs. */
async function appendsPerSecond(
  server: ServerProcess,
  options: { readonly jobs: readonly ReceivedJob[]; readonly status: number; readonly sizes: Map<number, number> },
): Promise<Round> {
  const { jobs, status, sizes } = options;
  using http = connectHttp(server.url);
  let count = 0;
  const start = performance.now();
  const processorStart = server.processorTime();
  const until = start + SECONDS * 1000;
  const append = async (job: ReceivedJob): Promise<void> => {
    while (performance.now() < until) {
      const size = sizes.get(job.id) ?? 0;
      const reply = await http.send(tracePatch(job, size, BYTES));
      if (reply.status !== status) throw new Error(`A patch of a trace was answered with ${reply.status}`);
      sizes.set(job.id, size + BYTES.length);
      count++;
    }
  };
  await Promise.all(jobs.map(append));
  const rate = count / ((performance.now() - start) / 1000);
  return { rate, processor: (server.processorTime() - processorStart) / count };
}

/** A patch of a trace, as the official runner sends it. */
export function tracePatch({ id, token }: ReceivedJob, start: number, body: Buffer): Call {
  const headers = {
    "job-token": token,
    "content-type": "text/plain",
    "content-range": `${start}-${start + body.length - 1}`,
  };
  return { method: "PATCH", path: `/api/v4/jobs/${id}/trace?debug_trace=false`, headers, body };
}
