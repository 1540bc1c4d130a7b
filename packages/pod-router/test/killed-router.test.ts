import { randomInt } from "node:crypto";
import { once } from "node:events";
import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { mintRoutableToken } from "@steps/pod-tokens";
import { expect, onTestFinished, test } from "vitest";
import { call, readAll, startPod } from "./pods.ts";

const worker = join(import.meta.dirname, "router-worker.ts");

async function startWorker(port: number, urls: readonly URL[]): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(worker, [String(port), ...urls.map(String)], {
    execArgv: ["--conditions=steps-source"],
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = (await once(createInterface(child.stdout ?? process.stdin), "line")) as [string];
  return { child, url };
}

test("a router that is killed in the middle of a run changes nothing for its clients but that they ask again", async () => {
  // A pod that takes a trace as pods do: the offset is checked, and a patch that is already there is acknowledged once more.
  let trace = Buffer.alloc(0);
  let patches = 0;
  const pod = await startPod((request, response) => {
    void readAll(request).then(
      (bytes) => {
        patches += 1;
        const start = Number(request.headers["content-range"]?.split("-")[0]);
        const isKnown = start < trace.length && trace.subarray(start, start + bytes.length).equals(bytes);
        if (start === trace.length) trace = Buffer.concat([trace, bytes]);
        response
          .writeHead(start === trace.length - bytes.length || isKnown ? 202 : 416, { Range: `0-${trace.length}` })
          .end();
      },
      () => undefined,
    );
  });
  const idle = await startPod((_, response) => response.writeHead(403).end());
  const urls = [idle.url, pod.url];
  // Below the numbers that Linux gives to outgoing connections: one of those could take the port while nobody listens there.
  const port = randomInt(20_000, 32_000);
  let { child, url } = await startWorker(port, urls);
  const headers = { "JOB-TOKEN": mintRoutableToken({ routing: { pod: 2 } }) };
  const lines = Array.from({ length: 60 }, (_, at) => Buffer.from(`line ${at} ${"x".repeat(1000)}\n`));
  let offset = 0;
  let failures = 0;
  for (const [at, line] of lines.entries()) {
    // The router is killed with a patch on its way, and another takes its place at the same address.
    if (at % 20 === 10) {
      const cut = call(
        `${url}/api/v4/jobs/1/trace`,
        { method: "PATCH", headers: { ...headers, "Content-Range": `${offset}-x` } },
        line,
      );
      cut.catch(() => undefined);
      child.kill("SIGKILL");
      await once(child, "exit");
      await cut.then(
        () => undefined,
        () => (failures += 1),
      );
      ({ child, url } = await startWorker(port, urls));
    }
    for (let isDone = false; !isDone;) {
      const patch = {
        method: "PATCH",
        headers: { ...headers, "Content-Range": `${offset}-${offset + line.length - 1}` },
      };
      const { status } = await call(`${url}/api/v4/jobs/1/trace`, patch, line);
      expect([202, 416]).toContain(status);
      isDone = status === 202;
    }
    offset += line.length;
  }
  expect(trace.equals(Buffer.concat(lines))).toBe(true);
  expect(patches).toBeGreaterThanOrEqual(lines.length);
  expect(failures).toBeLessThanOrEqual(3);
});
