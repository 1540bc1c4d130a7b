import { absolute, type Row } from "../measure.ts";
import { connectHttp, type Call } from "./http-client.ts";
import type { PodClient, ReceivedJob } from "./pod-client.ts";
import type { PodProcess, ServerProcess } from "./processes.ts";

const JOBS = 8;
const SECONDS = 4;
const TARGET = 1500;
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
  const { rate: floor } = await appendsPerSecond(raw, jobs, 201);
  const { rate, processor } = await appendsPerSecond(pod, jobs, 202);
  const size = `${BYTES.length} bytes`;
  return [
    {
      name: `trace appends of ${size}, ${JOBS} jobs : node:http [${database}]`,
      floor: `${floor.toFixed(0)} /s`,
      measured: `${rate.toFixed(0)} /s`,
      ratio: rate / floor,
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

async function appendsPerSecond(
  server: ServerProcess,
  jobs: readonly ReceivedJob[],
  status: number,
): Promise<{ readonly rate: number; readonly processor: number }> {
  using http = connectHttp(server.url);
  let count = 0;
  const start = performance.now();
  const processorStart = server.processorTime();
  const until = start + SECONDS * 1000;
  const append = async (job: ReceivedJob): Promise<void> => {
    for (let size = 0; performance.now() < until; size += BYTES.length) {
      const reply = await http.send(tracePatch(job, size, BYTES));
      if (reply.status !== status) throw new Error(`A patch of a trace was answered with ${reply.status}`);
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
