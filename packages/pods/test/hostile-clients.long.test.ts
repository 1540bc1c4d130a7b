import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { JobPayload } from "@steps/runner-api/job";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseKinds, useDatabase } from "./databases.ts";
import { runnerInfo, startPod, takeJob, type TestPod, until } from "./pod-harness.ts";

const MIB = 1024 * 1024;

async function runningJobOf(pod: TestPod, runner: string): Promise<JobPayload> {
  await pod.createPipeline({});
  const payload = await until(async () => await takeJob(pod, runner));
  await pod.api.updateJob(payload.id, { token: payload.token, state: "running", info: runnerInfo() });
  return payload;
}

async function openTo(pod: Pick<TestPod, "url">): Promise<Socket> {
  const { hostname, port } = new URL(pod.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

const closed = async (socket: Socket): Promise<unknown> => await new Promise((end) => socket.once("close", end));

/** Everything that comes until the other side closes, as text. */
async function all(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part));
  await closed(socket);
  return Buffer.concat(parts).toString("latin1");
}

const head = (line: string, headers: Readonly<Record<string, string>>): string =>
  `${line} HTTP/1.1\r\nHost: x\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;

describe.each(databaseKinds)("clients that mean no good, at a pod with %s", (kind) => {
  const database = useDatabase(kind);
  let pod: TestPod;
  let runner: string;

  beforeAll(async () => {
    pod = await startPod({ ...database.options(), artifactLimit: MIB, traceLimit: 100_000 });
    runner = (await pod.createRunner()).token;
  });

  afterAll(async () => await pod.stop());

  const runningJob = async (): Promise<JobPayload> => await runningJobOf(pod, runner);
  const open = async (): Promise<Socket> => await openTo(pod);

  async function traceOf(id: number): Promise<string> {
    const headers = { authorization: `Bearer ${pod.adminToken}` };
    return await (await fetch(`${pod.url}/api/pod/v1/jobs/${id}/trace`, { headers })).text();
  }

  /** Sends bytes in chunks for as long as somebody takes them. Gives how many were sent. */
  async function pour(socket: Socket, count: number): Promise<number> {
    const part = Buffer.alloc(64 * 1024, "x");
    const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]);
    const over = closed(socket);
    let sent = 0;
    for (; sent < count && !socket.destroyed; sent += part.length)
      if (!socket.write(chunk)) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), over]);
    return sent;
  }

  describe("Content-Range", () => {
    const stored = "0123456789";
    const gaps = ["11-15", "99999-100003", "999999999999999-999999999999999", "100-0"];
    const odd = [
      "",
      "-",
      "0-",
      "-4",
      "bytes 10-14",
      "bytes=10-14",
      "10-14/15",
      "10 - 14",
      "0x0a-14",
      "1e1-14",
      "+10-14",
    ];
    const odder = [
      "10-14,0-4",
      "10-14, 20-24",
      "１０-１４",
      "10-14;q=1",
      "9999999999999999-1",
      "NaN-NaN",
      "*/15",
      "10.0-14",
    ];

    test("that leaves a gap is answered with 416 and the size that is stored, however large the gap is", async () => {
      const { id, token } = await runningJob();
      await pod.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from(stored) });
      for (const range of gaps) expect(await patch(id, token, range)).toEqual([416, "0-10"]);
      expect(await traceOf(id)).toBe(stored);
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
      expect(await pod.job(id)).toMatchObject({ state: "success", trace_size: 10 });
    });

    test("in any other form is answered with 400 and the size that is stored", async () => {
      const { id, token } = await runningJob();
      await pod.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from(stored) });
      for (const range of [...odd, ...odder])
        expect([range, ...(await patch(id, token, range))]).toEqual([range, 400, "0-10"]);
      expect(await traceOf(id)).toBe(stored);
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    });

    test("whose end is wrong stores the bytes of the body at its start, each once", async () => {
      const { id, token } = await runningJob();
      for (const range of ["0-0", "0-999999", "5-2"]) expect((await patch(id, token, range))[0]).toBe(202);
      expect(await traceOf(id)).toBe("abcdeabcde");
      expect(await patch(id, token, "3-7")).toEqual([416, "0-10"]);
      expect(await patch(id, token, "5-9", "")).toEqual([202, "0-10"]);
      expect(await patch(id, token, "11-9", "")).toEqual([416, "0-10"]);
      expect(await traceOf(id)).toBe("abcdeabcde");
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    });

    async function patch(id: number, token: string, range: string, body = "abcde"): Promise<readonly unknown[]> {
      const socket = await open();
      const headers = { "JOB-TOKEN": token, "Content-Length": String(body.length), Connection: "close" };
      // Written by hand, since clients refuse to send such headers.
      const request = head(`PATCH /api/v4/jobs/${id}/trace`, { ...headers, "Content-Range": range });
      socket.write(Buffer.concat([Buffer.from(request, "utf8"), Buffer.from(body)]));
      const text = await all(socket);
      return [Number(text.split(" ")[1]), /^range: (\S+)/im.exec(text)?.[1]];
    }
  });

  describe("more than is allowed", () => {
    test.each([
      ["a request for a job", "POST /api/v4/jobs/request", 32 * 1024],
      ["an update", "PUT /api/v4/jobs/1", 8 * MIB],
      ["the end of a runner", "DELETE /api/v4/runners", 32 * 1024],
    ])("is refused with 413 while it comes: %s in chunks, without an end", async (_, line, limit) => {
      const socket = await open();
      const answer = all(socket);
      socket.write(head(line, { "Transfer-Encoding": "chunked" }));
      const sent = await pour(socket, 4000 * MIB);
      expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(sent).toBeGreaterThan(limit);
      // It was told long before; of what it sends all the same, 256 MiB are passed over, and some more may be under way.
      expect(sent).toBeLessThan(600 * MIB);
    });

    test("is refused with 413 before it comes, where its length is told", async () => {
      const { id, token } = await runningJob();
      const calls = [
        [`PATCH /api/v4/jobs/${id}/trace`, { "JOB-TOKEN": token, "Content-Range": "0-9" }, 2 * MIB],
        [
          `POST /api/v4/jobs/${id}/artifacts`,
          { "JOB-TOKEN": token, "Content-Type": "multipart/form-data; boundary=B" },
          2 * MIB,
        ],
        ["POST /api/v4/jobs/request", {}, 33_000],
        ["POST /api/pod/v1/pipelines", { Authorization: `Bearer ${pod.adminToken}` }, 65 * MIB],
      ] as const;
      for (const [line, headers, length] of calls) {
        const socket = await open();
        socket.write(head(line, { ...headers, "Content-Length": String(length) }));
        const [first] = (await once(socket, "data")) as [Buffer];
        expect([line, first.toString().split("\r\n")[0]]).toEqual([line, "HTTP/1.1 413 Payload Too Large"]);
        socket.destroy();
      }
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    });

    test("of an artifact that comes in chunks is refused with 413, which its sender can read, and nothing of it stays", async () => {
      const { id, token } = await runningJob();
      const socket = await open();
      const answer = all(socket);
      const headers = { "JOB-TOKEN": token, "Content-Type": "multipart/form-data; boundary=B" };
      socket.write(head(`POST /api/v4/jobs/${id}/artifacts`, { ...headers, "Transfer-Encoding": "chunked" }));
      const part = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n';
      socket.write(`${part.length.toString(16)}\r\n${part}\r\n`);
      await pour(socket, 4000 * MIB);
      expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(readdirSync(join(pod.stateDir, "artifacts/incoming"))).toEqual([]);
      expect(await pod.job(id)).toMatchObject({ state: "running", artifacts: [] });
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    });

    test("of a trace ends its job, and the trace keeps what fitted", async () => {
      const { id, token } = await runningJob();
      await pod.api.patchTrace(id, { token, offset: 0, bytes: Buffer.alloc(99_999, "a") });
      const answer = await pod.api.patchTrace(id, { token, offset: 99_999, bytes: Buffer.from("bc") });
      expect(answer).toMatchObject({ status: 403, jobStatus: "failed" });
      expect(await pod.job(id)).toMatchObject({ failure_reason: "trace_size_exceeded", trace_size: 99_999 });
    });
  });
});

describe("clients that waste time", { concurrent: true }, () => {
  test("those that do not go on are let go: heads, bodies and forms that never end cost half a minute, and nobody waits for them", async () => {
    const pod = await startPod();
    const { id, token } = await runningJobOf(pod, (await pod.createRunner()).token);
    const form = { "JOB-TOKEN": token, "Content-Type": "multipart/form-data; boundary=B", "Content-Length": "100000" };
    const beginnings = [
      "PUT /api/v4/jobs/1 HTTP/1.1\r\nHost: x\r\nX-Slow: ",
      `${head("PUT /api/v4/jobs/1", { "Content-Length": "100" })}{"token":`,
      `${head("POST /api/v4/jobs/request", { "Transfer-Encoding": "chunked" })}500\r\n{"tok`,
      `${head(`PATCH /api/v4/jobs/${id}/trace`, { "JOB-TOKEN": token, "Content-Range": "0-9", "Content-Length": "900" })}123`,
    ];
    const slow = await Promise.all(
      beginnings.flatMap((text) => [text, text, text]).map(async (text) => await begin(text)),
    );
    const upload = await begin(`${head(`POST /api/v4/jobs/${id}/artifacts`, form)}--B\r\nContent-Disp`);
    // Each goes on by a byte now and then, as long as it may.
    const drip = setInterval(() => slow.forEach(({ socket }) => socket.writable && socket.write("1")), 2_000);
    expect(await pod.api.updateJob(id, { token, state: "running", info: runnerInfo() })).toMatchObject({ status: 200 });
    const statuses = await Promise.all(slow.map(async ({ answer }) => (await answer).split(" ")[1]));
    clearInterval(drip);
    expect(new Set(statuses)).toEqual(new Set(["408"]));
    expect(await pod.job(id)).toMatchObject({ state: "running", trace_size: 0, artifacts: [] });
    await upload.answer;
    await pod.stop();

    async function begin(text: string): Promise<{ readonly socket: Socket; readonly answer: Promise<string> }> {
      const socket = await openTo(pod);
      socket.write(text);
      return { socket, answer: all(socket) };
    }
  });

  test("readers that do not read cost the pod no memory, and are let go", async () => {
    const big = await startPod({ artifactLimit: 200 * MIB });
    try {
      const { token: bigRunner } = await big.createRunner();
      await big.createPipeline({});
      const { id, token } = await until(async () => await takeJob(big, bigRunner));
      const form = new FormData();
      form.set("file", new Blob([randomBytes(100 * MIB)]), "a.zip");
      const url = `${big.url}/api/v4/jobs/${id}/artifacts`;
      expect((await fetch(url, { method: "POST", headers: { "job-token": token }, body: form })).status).toBe(201);
      const { hostname, port } = new URL(big.url);
      const before = process.memoryUsage.rss();
      const readers = Array.from({ length: 10 }, () => {
        const socket = connect(Number(port), hostname).on("error", () => {});
        socket.pause();
        socket.write(head(`GET /api/v4/jobs/${id}/artifacts`, { "JOB-TOKEN": token }));
        return socket;
      });
      // Answers to others that ask meanwhile come as ever.
      for (let i = 0; i < 20; i++)
        expect((await big.api.updateJob(id, { token, state: "running", info: runnerInfo() })).status).toBe(200);
      expect(process.memoryUsage.rss() - before).toBeLessThan(200 * MIB);
      await until(async () => readers.every((socket) => openFiles(socket.localPort ?? 0) === 0));
      for (const socket of readers) socket.destroy();
    } finally {
      await big.stop();
    }

    /** Whether this process has still the other end of a connection, as /proc tells it: its state is 01 while it is open. */
    function openFiles(port: number): number {
      const table = existsSync("/proc/net/tcp") ? readFileSync("/proc/net/tcp", "utf8") : "";
      const remote = port.toString(16).toUpperCase().padStart(4, "0");
      return table.split("\n").filter((line) => / \S+:\S+ \S+:(\S{4}) 01 /.exec(line)?.[1] === remote).length;
    }
  });
});
