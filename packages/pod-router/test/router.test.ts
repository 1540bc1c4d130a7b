import { once } from "node:events";
import { request as send, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { mintRoutableToken } from "@steps/pod-tokens";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startRouter } from "../src/index.ts";
import { type Answer, call, echo, readAll, routerFor, routerWithFigures, startPod } from "./pods.ts";
import { configFor } from "./router-config.ts";

const tokenOf = (pod: number): string => mintRoutableToken({ routing: { pod } });
const to = (pod: number): Record<string, string> => ({ "RUNNER-TOKEN": tokenOf(pod) });
const got = (answer: Answer): { name: string; url: string; headers: Record<string, string>; body: string } =>
  JSON.parse(answer.body) as never;

describe("a router", () => {
  test("sends requests to their pods, with method, query, headers and body", async () => {
    const pods = await Promise.all(["one", "two"].map((name) => startPod(echo(name))));
    const url = await routerFor(configFor(pods.map((pod) => pod.url)));
    const patch = await call(
      `${url}/api/v4/jobs/5/trace?debug_trace=false`,
      {
        method: "PATCH",
        headers: { ...to(2), "Content-Range": "0-4", "X-Request-Id": "abc", "X-Forwarded-For": "9.9.9.9" },
      },
      "hello",
    );
    expect(patch.status).toBe(200);
    expect(patch.headers["x-pod-route"]).toBe("2 header");
    expect(got(patch)).toMatchObject({
      name: "two",
      method: "PATCH",
      url: "/api/v4/jobs/5/trace?debug_trace=false",
      body: "hello",
    });
    expect(got(patch).headers).toMatchObject({
      "content-range": "0-4",
      "x-request-id": "abc",
      host: pods[1]?.url.host,
    });
    expect(got(patch).headers["x-forwarded-for"]).toBe("9.9.9.9, 127.0.0.1");
    expect(got(await call(`${url}/pods/2/api/v4/projects`)).url).toBe("/api/v4/projects");
  });

  test("finds the token in a small body, which arrives as it was, and in chunks", async () => {
    const pods = await Promise.all(["one", "two"].map((name) => startPod(echo(name))));
    const url = await routerFor(configFor(pods.map((pod) => pod.url)));
    const body = ` {"info": {}, "token": "${tokenOf(2)}"}\n`;
    for (const headers of [{ "Content-Length": body.length }, { "Transfer-Encoding": "chunked" }]) {
      for (const [method, path] of [
        ["POST", "jobs/request"],
        ["DELETE", "runners"],
      ] as const) {
        const answer = await call(`${url}/api/v4/${path}`, { method, headers }, body);
        expect(got(answer)).toMatchObject({ name: "two", body });
        expect(answer.headers["x-pod-route"]).toBe("2 body");
      }
    }
    expect(got(await call(`${url}/api/v4/jobs/request`, { method: "POST" })).name).toBe("one");
  });

  test("refuses bodies that are too large or no JSON, and reads no other bodies", async () => {
    const pod = await startPod(echo("one"));
    const url = await routerFor(configFor([pod.url]));
    const ask = async (body: string, headers = {}): Promise<unknown> =>
      (await call(`${url}/api/v4/jobs/request`, { method: "POST", headers }, body)).status;
    expect(await ask("x".repeat(32 * 1024 + 1))).toBe(413);
    expect(await ask("x".repeat(32 * 1024 + 1), { "Transfer-Encoding": "chunked" })).toBe(413);
    expect(await ask('{"token":')).toBe(400);
    expect(await ask("[".repeat(32 * 1024))).toBe(400);
    expect(await ask(JSON.stringify({ a: "x".repeat(32 * 1024 - 8) }))).toBe(200);
    expect((await call(`${url}/api/v4/jobs/5/trace`, { method: "PATCH" }, "{".repeat(100_000))).status).toBe(200);
  });

  test("passes ranges on as they are, and keeps what is about one connection", async () => {
    const pod = await startPod((request, response) => {
      response.writeHead(416, [
        "Range",
        "0-77",
        "Job-Status",
        "running",
        "X-A",
        "1",
        "X-A",
        "2",
        "Connection",
        "X-B",
        "X-B",
        "3",
      ]);
      response.end(request.headers["content-range"] + JSON.stringify(request.headers));
    });
    const url = await routerFor(configFor([pod.url]));
    const headers = {
      "Content-Range": "5-1",
      Range: "bytes=0-0",
      TE: "trailers",
      Connection: "close, X-Secret",
      "X-Secret": "1",
    };
    const answer = await call(`${url}/api/v4/jobs/5/trace`, { method: "PATCH", headers }, "x");
    expect(answer).toMatchObject({ status: 416, headers: { range: "0-77", "job-status": "running", "x-a": "1, 2" } });
    expect(answer.headers["x-b"]).toBeUndefined();
    expect(answer.body).toContain('5-1{"content-range":"5-1","range":"bytes=0-0"');
    expect(answer.body).not.toMatch(/x-secret|trailers/);
  });

  test("answers 503 with whole seconds for pods that are down or not known, and never 403 or 404", async () => {
    const pod = await startPod(echo("one"));
    const url = await routerFor(configFor([pod.url, new URL("http://127.0.0.1:1")]));
    for (const number of [2, 9]) {
      for (const path of ["jobs/request", "runners/verify", "user/runners"]) {
        const answer = await call(`${url}/api/v4/${path}`, { method: "POST", headers: to(number) }, "{}");
        expect(answer).toMatchObject({
          status: 503,
          headers: { "retry-after": "2", "content-type": "application/json" },
        });
      }
    }
    expect(got(await call(`${url}/api/v4/jobs/request`, { headers: to(1) })).name).toBe("one");
  });

  test("gives a forged token to the pod that it names, which refuses it", async () => {
    const pods = await Promise.all(
      [200, 403].map((status) => startPod((_, response) => response.writeHead(status).end())),
    );
    const url = await routerFor(configFor(pods.map((pod) => pod.url)));
    const forged = `glcbt-${["{}", '{"alg":"EdDSA","kid":"x"}', '{"c":"2"}']
      .map((part) => Buffer.from(part).toString("base64url"))
      .slice(1)
      .join(".")}.AA`;
    expect((await call(`${url}/api/v4/jobs/1`, { method: "PUT", headers: { "JOB-TOKEN": forged } })).status).toBe(403);
  });

  test("lets go of the pod when the client leaves", async () => {
    let left: Promise<unknown> | undefined;
    const asked = new Promise<void>((resolve) => {
      void startPod((request) => {
        left = once(request.socket, "close");
        resolve();
      }).then(async (pod) => {
        const url = await routerFor(configFor([pod.url]));
        const poll = send(`${url}/api/v4/jobs/request`, { method: "POST", headers: to(1), agent: false });
        poll.on("error", () => undefined).end("{}");
        await asked;
        poll.destroy();
      });
    });
    await asked;
    await left;
  });

  test("waits for a slow client instead of keeping what the pod sends", async () => {
    let sent = 0;
    const total = 64 * 1024 * 1024;
    const chunk = Buffer.alloc(64 * 1024, 1);
    const pump = (response: ServerResponse): void => {
      while (sent < total) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", () => pump(response));
      }
      response.end();
    };
    const pod = await startPod((_, response) => pump(response));
    const url = new URL(await routerFor(configFor([pod.url])));
    const client = connect(Number(url.port), url.hostname);
    onTestFinished(() => void client.destroy());
    client.pause().write("GET /api/v4/jobs/1/artifacts HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    // The pod goes on until all buffers between it and the client are full, and then stands still.
    await expect.poll(() => sent).toBeGreaterThan(0);
    let before: number;
    do {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 300));
    } while (sent !== before);
    expect(sent).toBeLessThan(total / 2);
    const received = (await readAll(client.resume())).length;
    expect(received).toBeGreaterThan(total);
  });

  test("no header takes the length from a body, which would make a second request of it", async () => {
    const urls: string[] = [];
    const pod = await startPod((request, response) => {
      urls.push(`${request.method} ${request.url}`);
      void readAll(request).then((body) => response.end(body));
    });
    const url = await routerFor(configFor([pod.url]));
    const body = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
    const headers = { Connection: "Content-Length, close", "Content-Length": body.length };
    expect((await call(`${url}/api/v4/jobs/1/trace`, { method: "PATCH", headers }, body)).body).toBe(body);
    expect(urls).toEqual(["PATCH /api/v4/jobs/1/trace"]);
  });

  test("asks one pod on one connection again and again, and on a new one when the pod closed it", async () => {
    const seen = new Set<unknown>();
    const pod = await startPod((request, response) => {
      seen.add(request.socket);
      const headers = request.url === "/close" ? { Connection: "close" } : {};
      void readAll(request).then((body) => response.writeHead(200, headers).end(body));
    });
    const url = await routerFor(configFor([pod.url]));
    const ask = async (path: string, body: string, headers = {}): Promise<unknown> =>
      (await call(url + path, { method: "PATCH", headers }, body)).body;
    expect(await ask("/a", "x".repeat(300_000))).toBe("x".repeat(300_000));
    expect(await ask("/a", "two", { "Transfer-Encoding": "chunked" })).toBe("two");
    expect(await ask("/close", "three")).toBe("three");
    expect(seen.size).toBe(1);
    expect(await ask("/a", "four")).toBe("four");
    expect(seen.size).toBe(2);
    for (const socket of pod.sockets) socket.destroy();
    await expect.poll(() => pod.sockets.size).toBe(0);
    expect(await ask("/a", "five")).toBe("five");
  });

  test("does not make an answer look whole that broke off", async () => {
    const pod = await startPod((_, response) => {
      response.writeHead(200, { "Content-Length": "100" }).write("half");
      setImmediate(() => response.destroy());
    });
    const url = await routerFor(configFor([pod.url]));
    await expect(call(`${url}/api/v4/jobs/1/artifacts`)).rejects.toThrow("aborted");
  });

  test("gives the answer of a pod that does not want the rest of a body", async () => {
    const pod = await startPod((_, response) => response.writeHead(413, { Connection: "close" }).end("too large"));
    const url = await routerFor(configFor([pod.url]));
    const request = send(`${url}/api/v4/jobs/1/artifacts`, { method: "POST", agent: false });
    onTestFinished(() => void request.destroy());
    request.on("error", () => undefined).write(Buffer.alloc(1024));
    const [response] = (await once(request, "response")) as [{ statusCode: number }];
    expect(response.statusCode).toBe(413);
  });

  test("joins a client and its pod for a WebSocket", async () => {
    const server = createServer((_, response) => response.writeHead(418).end("no"));
    const sockets = new WebSocketServer({ server, path: "/session" });
    sockets.on("connection", (socket) =>
      socket.on("message", (text: Buffer) => socket.send(`pod: ${text.toString()}`)),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => server.close().closeAllConnections());
    const pod = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const url = (await routerFor(configFor([new URL("http://127.0.0.1:1"), pod]))).replace("http", "ws");
    const socket = new WebSocket(`${url}/session`, { headers: to(2) });
    await once(socket, "open");
    socket.send("hello");
    expect(String((await once(socket, "message"))[0])).toBe("pod: hello");
    socket.close();
    await once(socket, "close");
    await expect(once(new WebSocket(`${url}/other`, { headers: to(2) }), "open")).rejects.toThrow("400");
    await expect(once(new WebSocket(`${url}/session`, { headers: to(1) }), "open")).rejects.toThrow("503");
  });

  test("sends uploads to the pod itself where it is told to, and nothing else", async () => {
    const pod = await startPod(echo("one"));
    const config = configFor([pod.url], { redirectsArtifacts: true });
    const number = { number: 1, url: pod.url, publicUrl: new URL("https://pod-1.example.com") };
    const url = await routerFor({ ...config, pods: new Map([[1, number]]), defaultPod: number });
    const path = "/api/v4/jobs/1/artifacts?artifact_type=archive";
    const answer = await call(url + path, { method: "POST" }, "x".repeat(1024 * 1024));
    expect(answer).toMatchObject({ status: 307, headers: { location: `https://pod-1.example.com${path}` } });
    expect((await call(url + path)).status).toBe(200);
  });

  test("lets one pod have so many requests and no more, and leaves the others alone", async () => {
    const slow = await startPod(() => undefined);
    const fast = await startPod(echo("two"));
    const { url, figures } = await routerWithFigures(configFor([slow.url, fast.url], { maxRequestsPerPod: 3 }));
    const held = Array.from({ length: 3 }, () =>
      send(`${url}/x`, { headers: to(1), agent: false }).on("error", () => undefined),
    );
    onTestFinished(() => held.forEach((request) => request.destroy()));
    for (const request of held) request.end();
    while (slow.sockets.size < 3) await new Promise((resolve) => setImmediate(resolve));
    expect((await call(`${url}/x`, { headers: to(1) })).status).toBe(503);
    expect((await call(`${url}/x`, { headers: to(2) })).status).toBe(200);
    const metrics = await figures();
    expect(metrics).toContain('pod_router_active{pod="1"} 3\n');
    expect(metrics).toContain('pod_router_requests_total{pod="2",by="header"} 1\n');
    expect(metrics).toContain('pod_router_refusals_total{status="503"} 1\n');
    expect(metrics).toContain('pod_router_responses_total{pod="2",status="200"} 1\n');
    expect(metrics).not.toContain('status="503",pod');
    expect((await call(`${url}/-/router/health`)).status).toBe(200);
  });

  test("gives up a pod that is silent", async () => {
    const pod = await startPod(() => undefined);
    const url = await routerFor(configFor([pod.url], { idleTimeoutMs: 100 }));
    expect((await call(`${url}/x`)).status).toBe(503);
  });

  // The second is longer than any timer can wait.
  test.each([10_000, 2 ** 40])("ends when it is told to: what is under way has %i ms, the rest none", async (ms) => {
    const pod = await startPod((_, response) => void setTimeout(() => response.end("late"), 200));
    const router = await startRouter(configFor([pod.url]), { port: 0 });
    const answered = call(`${router.url}/x`);
    while (pod.sockets.size === 0) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([router.close(ms), answered.then(({ body }) => expect(body).toBe("late"))]);
    await expect(call(`${router.url}/x`)).rejects.toThrow("ECONNREFUSED");
  });

  test("cuts off what is under way when it is told to hurry", async () => {
    const pod = await startPod(() => undefined);
    const router = await startRouter(configFor([pod.url]), { port: 0 });
    const answered = expect(call(`${router.url}/x`)).rejects.toThrow();
    while (pod.sockets.size === 0) await new Promise((resolve) => setImmediate(resolve));
    const hurry = new AbortController();
    const closed = router.close(2 ** 40, hurry.signal);
    hurry.abort();
    await Promise.all([closed, answered]);
  });
});
