import { ratioOf, type Row } from "../measure.ts";
import type { Call } from "./http-client.ts";
import { jobRequest, jobUpdate, type PodClient } from "./pod-client.ts";
import type { ServerProcess } from "./processes.ts";
import { percentile, timeCalls } from "./sequential.ts";
import { tracePatch } from "./traces.ts";

const CALLS = 600;
const LIMIT = 1.3;
const BYTES = Buffer.alloc(4096, "x");

/** Calls to a pod through a router, against the same calls to the pod itself. */
export async function routerCalls(pod: ServerProcess, client: PodClient, router: ServerProcess): Promise<Row[]> {
  const paused = await client.createRunner(["paused"], { paused: true });
  const token = await client.createRunner(["router"]);
  await client.createJobs(1, { tags: ["router"] });
  const { job } = await client.requestJob(token, "s_router");
  if (job === undefined) throw new Error("A runner got no job, and there is one");
  let size = 0;
  const patch = (): Call => tracePatch(job, (size += BYTES.length) - BYTES.length, BYTES);
  const calls = [
    { name: "jobs/request without a job", call: () => jobRequest(paused, "s_router"), status: 204 },
    { name: "PUT of a job", call: () => jobUpdate(job, "running"), status: 200 },
    { name: "PATCH of a trace, 4 KiB", call: patch, status: 202 },
  ];
  const rows: Row[] = [];
  for (const { name, call, status } of calls) {
    const [floor = [], measured = []] = await timeCalls(CALLS, [
      { url: pod.url, call, status },
      { url: router.url, call, status },
    ]);
    rows.push(ratioOf(`${name}, router : pod`, { floor, measured, limit: LIMIT }));
  }
  return rows;
}

/** The time that a router adds to a call to `node:http`. */
export async function routerShare(raw: ServerProcess, router: ServerProcess): Promise<Row> {
  const call = (): Call => ({ method: "PATCH", path: "/api/v4/jobs/1/trace", body: BYTES });
  const [floor = [], measured = []] = await timeCalls(CALLS, [
    { url: raw.url, call, status: 201 },
    { url: router.url, call, status: 201 },
  ]);
  const [half, halfMeasured] = [percentile(floor, 0.5), percentile(measured, 0.5)];
  return {
    name: "a call to node:http through the router : without",
    floor: `${half.toFixed(2)} ms (${Math.min(...floor).toFixed(2)})`,
    measured: `${halfMeasured.toFixed(2)} ms (${Math.min(...measured).toFixed(2)})`,
    ratio: halfMeasured / half,
    target: "–",
    isMet: true,
  };
}
