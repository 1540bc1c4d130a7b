import { Readable } from "node:stream";
import { atLeast, type Row } from "../measure.ts";
import { connectHttp } from "./http-client.ts";
import type { PodClient, ReceivedJob } from "./pod-client.ts";
import type { ServerProcess } from "./processes.ts";

const MIB = 1024 * 1024;
const SIZE = 1024 * MIB;
const ROUNDS = 2;
const LIMIT = 0.8;

/** An artifact of a gibibyte up and down, through a router against without it. */
export async function artifacts(pod: ServerProcess, client: PodClient, router: ServerProcess): Promise<Row[]> {
  const token = await client.createRunner(["artifacts"]);
  let uploaded: ReceivedJob | undefined;
  // A job has one archive: each upload is that of a job of its own.
  const upload = async ({ url }: ServerProcess): Promise<number> => {
    await client.createJobs(1, { tags: ["artifacts"] });
    const { job } = await client.requestJob(token, "s_artifacts");
    if (job === undefined) throw new Error("A runner got no job, and there is one");
    await client.update(job, "running");
    uploaded = job;
    return await timed(async () => await send(url, job));
  };
  const download = async ({ url }: ServerProcess): Promise<number> =>
    await timed(async () => await receive(url, uploaded as ReceivedJob));
  const rows: Row[] = [];
  for (const [name, run] of [
    ["up", upload],
    ["down", download],
  ] as const) {
    const floor: number[] = [];
    const measured: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      floor.push(await run(pod));
      measured.push(await run(router));
    }
    const speed = (times: readonly number[]): number => SIZE / MIB / (Math.min(...times) / 1000);
    const numbers = { floor: speed(floor), measured: speed(measured), limit: LIMIT, unit: "MiB/s" };
    rows.push(atLeast(`1 GiB of artifacts ${name}, router : pod`, numbers));
  }
  return rows;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function* form(boundary: string): Generator<Buffer> {
  const disposition = 'Content-Disposition: form-data; name="file"; filename="artifacts.zip"';
  yield Buffer.from(`--${boundary}\r\n${disposition}\r\nContent-Type: application/octet-stream\r\n\r\n`);
  const chunk = Buffer.alloc(MIB / 4, "x");
  for (let left = SIZE; left > 0; left -= chunk.length) yield chunk;
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

async function send(url: string, { id, token }: ReceivedJob): Promise<void> {
  using http = connectHttp(url);
  const headers = { "job-token": token, "content-type": "multipart/form-data; boundary=bench" };
  const path = `/api/v4/jobs/${id}/artifacts?artifact_type=archive&artifact_format=zip`;
  const body = Readable.from(form("bench"), { objectMode: true });
  const { status } = await http.send({ method: "POST", path, headers, body });
  if (status !== 201) throw new Error(`An upload was answered with ${status}`);
}

async function receive(url: string, { id, token }: ReceivedJob): Promise<void> {
  using http = connectHttp(url);
  let size = 0;
  const onBytes = (bytes: Buffer): void => void (size += bytes.length);
  const call = { method: "GET", path: `/api/v4/jobs/${id}/artifacts`, headers: { "job-token": token }, onBytes };
  const { status } = await http.send(call);
  if (status !== 200 || size !== SIZE) throw new Error(`A download was answered with ${status} and ${size} bytes`);
}
