import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { openSync, closeSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Duplex } from "node:stream";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { connectService, type Dial, followJob, runAndFollow } from "@steps/client";
import { dialUnix } from "@steps/dial";
import { ListRequestSchema, ListResponseSchema, RunRequestSchema } from "@steps/proto/service";
import { absolute, interleaveAll, median, node, ratioOf, type Row, shareOf } from "../measure.ts";
import { connectRaw, type RawClient } from "../raw-http2-client.ts";
import { type RunningService, startService, stop, waitFor } from "../service.ts";

const CALLS = 2000;
const STREAM_BYTES = 128 * 1024 * 1024;
const ROUNDS = 15;

/** The service on its socket, against node:http2 with the same messages. */
export async function service(scratch: string): Promise<Row[]> {
  await using running = await startService(scratch, "service");
  const idle = running.memory();
  const dial = dialUnix({ path: running.socket });
  const file = writeFile(join(scratch, "stream"));
  await using raw = await startRaw(scratch, file, await answerOf(dial));
  using floor = connectRaw(raw.socket);
  using client = connectRaw(running.socket, "/proto.StepRunner/Status");
  return [
    await status(client, floor),
    await unary(dial, floor),
    await stream(dial, floor, file),
    await firstByte(dial),
    await reattach(dial),
    absolute("memory of an idle service", { measured: idle, limit: 70, unit: "MiB" }),
    await memoryOfMany(scratch),
  ];
}

function writeFile(path: string): string {
  const fd = openSync(path, "w");
  const block = Buffer.from(`${"x".repeat(99)}\n`.repeat(10_000));
  for (let left = STREAM_BYTES; left > 0; left -= block.length) writeSync(fd, block, 0, Math.min(left, block.length));
  closeSync(fd);
  return path;
}

/** Returns the service's answer to the call that is measured. */
async function answerOf(dial: Dial): Promise<Uint8Array> {
  using client = await connectService(dial);
  const [name = "", version = ""] = client.server.name.split(" ");
  const answer = create(ListResponseSchema, { runner: { name, version }, instance: client.server.instance });
  return toBinary(ListResponseSchema, answer);
}

async function startRaw(
  scratch: string,
  file: string,
  answer: Uint8Array,
): Promise<AsyncDisposable & { readonly socket: string }> {
  const socket = join(scratch, "raw.sock");
  const program = join(import.meta.dirname, "../raw-http2-server.ts");
  const args = ["--disable-warning=ExperimentalWarning", program, socket, file, Buffer.from(answer).toString("base64")];
  const child = spawn(node, args, { stdio: ["ignore", "ignore", "pipe"] });
  await waitFor(child, "is listening on socket");
  return { socket, [Symbol.asyncDispose]: () => stop(child) };
}

/** GitLab's own call, asked of both by the same client. */
async function status(client: RawClient, raw: RawClient): Promise<Row> {
  const request = new Uint8Array();
  const times = await interleaveAll(CALLS, [
    () => timed(async () => void (await raw.call(request))),
    () => timed(async () => void (await client.call(request))),
  ]);
  const [floor = [], measured = []] = times.map((list) => list.slice(CALLS / 4));
  return ratioOf("Status : node:http2", { floor, measured, limit: 2 });
}

async function unary(dial: Dial, raw: RawClient): Promise<Row> {
  using client = await connectService(dial);
  const request = toBinary(ListRequestSchema, create(ListRequestSchema, { ids: ["-"] }));
  const times: [number[], number[]] = [[], []];
  for (let i = 0; i < CALLS; i++) {
    let start = performance.now();
    fromBinary(ListResponseSchema, await raw.call(request));
    times[0].push(performance.now() - start);
    start = performance.now();
    await client.list(["-"]);
    times[1].push(performance.now() - start);
  }
  // The first calls warm both sides.
  const [floor = [], measured = []] = times.map((list) => list.slice(CALLS / 4));
  return ratioOf("a call with our client : node:http2", { floor, measured, limit: 3 });
}

async function stream(dial: Dial, raw: RawClient, file: string): Promise<Row> {
  const id = randomUUID();
  const definition = JSON.stringify([{ name: "cat", exec: { command: ["cat", file] } }]);
  const { token = "" } = await runAndFollow(dial, { id, definition }, { keep: true });
  const [floor = [], measured = []] = await interleaveAll(ROUNDS, [
    async () => timed(async () => void (await raw.stream())),
    async () => timed(() => followAll(dial, id, token)),
  ]);
  using client = await connectService(dial, { token });
  await client.close(id);
  const name = "log stream : node:http2, 64 KiB";
  return shareOf(name, { floor, measured, bytes: STREAM_BYTES, limit: 0.75 });
}

async function followAll(dial: Dial, id: string, token: string): Promise<void> {
  let bytes = 0;
  await followJob(dial, id, { token, onOutput: (_stream, piece) => void (bytes += piece.length) });
  if (bytes !== STREAM_BYTES) throw new Error(`The log has ${bytes} bytes`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** From the call of Run to the first byte of the log, against the first byte of a process. */
async function firstByte(dial: Dial): Promise<Row> {
  using client = await connectService(dial);
  const definition = JSON.stringify([{ name: "hi", exec: { command: ["/bin/echo", "hi"] } }]);
  const [floor = [], measured = []] = await interleaveAll(60, [
    () =>
      new Promise((resolve) => {
        const start = performance.now();
        const child = spawn("/bin/echo", ["hi"], { stdio: ["ignore", "pipe", "pipe"] });
        let at = 0;
        child.stdout.once("data", () => (at = performance.now() - start));
        child.once("close", () => resolve(at));
      }),
    async () => {
      const id = randomUUID();
      const start = performance.now();
      await client.run(create(RunRequestSchema, { id, definition }));
      let at = 0;
      for await (const piece of client.followIO(id, { stdout: 0, stderr: 0 }))
        if (piece.bytes.length > 0) at ||= performance.now() - start;
      await client.close(id);
      return at;
    },
  ]);
  return ratioOf("Run to the first byte of the log : spawn", { floor, measured, limit: 2.5 });
}

/** From the loss of the connection to the next byte of the log. */
async function reattach(dial: Dial): Promise<Row> {
  let current: Duplex | undefined;
  const remembering: Dial = async (signal) => (current = await dial(signal));
  const stop = new AbortController();
  const times: number[] = [];
  let cutAt = 0;
  let pieces = 0;
  const definition = JSON.stringify([{ name: "t", script: "while :; do echo tick; sleep 0.01; done" }]);
  await runAndFollow(
    remembering,
    { definition },
    {
      signal: stop.signal,
      onOutput: () => {
        if (cutAt !== 0) times.push(performance.now() - cutAt);
        cutAt = 0;
        pieces += 1;
        if (times.length === 30) return stop.abort();
        if (pieces % 5 !== 0) return;
        cutAt = performance.now();
        current?.destroy();
      },
    },
  );
  return absolute("re-attach after a cut", { measured: median(times), limit: 250, unit: "ms" });
}

async function memoryOfMany(scratch: string): Promise<Row> {
  await using running: RunningService = await startService(scratch, "many");
  const dial = dialUnix({ path: running.socket });
  const definition = JSON.stringify([{ name: "hi", script: "echo hi" }]);
  for (let batch = 0; batch < 20; batch++) {
    await Promise.all(Array.from({ length: 10 }, () => runAndFollow(dial, { definition }, { keep: true })));
  }
  // A service that has nothing to do gives back what it does not need within a second or two.
  await sleep(3000);
  return absolute("memory with 200 jobs done", { measured: running.memory(), limit: 120, unit: "MiB" });
}
