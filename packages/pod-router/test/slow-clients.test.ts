import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { call, readAll, readUntilGone, routerFor, routerWithFigures, startPod } from "./pods.ts";
import { configFor } from "./router-config.ts";

function open(url: string, options: { readonly allowHalfOpen?: boolean } = {}): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, ...options });
  onTestFinished(() => void socket.destroy());
  return socket.on("error", () => undefined);
}

/** Sends a byte again and again until the connection is closed. */
function trickle(socket: Socket): void {
  const timer = setInterval(() => socket.write("x"), 50);
  socket.once("close", () => clearInterval(timer));
  onTestFinished(() => clearInterval(timer));
}

const SLOW = { idleTimeoutMs: 1000 };

describe("a client that is slow", () => {
  test.each([
    ["with its body", "PATCH /api/v4/jobs/1/trace"],
    ["with a small body, which the router reads itself", "POST /api/v4/jobs/request"],
  ])("%s is told so, and its pod is free again", async (_, line) => {
    const seen: Promise<unknown>[] = [];
    const pod = await startPod((request) => {
      seen.push(new Promise<void>((resolve) => request.resume().on("close", resolve)));
      request.on("error", () => undefined);
    });
    const url = await routerFor(configFor([pod.url], SLOW));
    const socket = open(url);
    socket.write(`${line} HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n`);
    trickle(socket);
    expect(await readUntilGone(socket)).toMatch(/^HTTP\/1\.1 408 /);
    await Promise.all(seen);
  });

  test("with the rest of a body that its pod does not want is cut off", async () => {
    const pod = await startPod((_, response) => response.writeHead(413).end("too large"));
    const socket = open(await routerFor(configFor([pod.url], SLOW)));
    socket.write("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n");
    trickle(socket);
    expect(await readUntilGone(socket)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("to read is cut off, also when its pod has sent all", async () => {
    let heard = (): void => undefined;
    const pod = await startPod((_, response) => {
      response.end("x".repeat(50_000));
      heard();
    });
    const { url, figures } = await routerWithFigures(configFor([pod.url], SLOW));
    const socket = open(url).pause();
    const isGone = async (): Promise<boolean> => (await figures()).includes("pod_router_connections 0\n");
    // Once the system keeps no more for the connection, the last answer stays with the router, and the next request is not heard.
    for (let isHeard = true; isHeard;) {
      const next = new Promise<boolean>((resolve) => (heard = () => resolve(true)));
      const gone = vi.waitUntil(isGone, { timeout: 60_000, interval: 200 }).then(() => false);
      gone.catch(() => undefined);
      socket.write("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
      isHeard = await Promise.race([next, gone]);
    }
    expect(await figures()).toContain('pod_router_responses_total{pod="1",status="cut"} 1\n');
    expect(await figures()).toContain('pod_router_active{pod="1"} 0\n');
  });

  test("may wait for its answer for longer than it may be silent", async () => {
    const answer = Promise.withResolvers<void>();
    const pod = await startPod((request, response) => {
      request.resume();
      if (request.url !== "/poll") return;
      // The pod is not silent: only the client could be cut off.
      const timer = setInterval(() => response.writeProcessing(), 50);
      onTestFinished(() => clearInterval(timer));
      void answer.promise.then(() => {
        clearInterval(timer);
        response.end("a job");
      });
    });
    const url = await routerFor(configFor([pod.url], SLOW));
    const socket = open(url);
    socket.write("GET /poll HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    // Others come later and are cut off for their silence, one after the other.
    for (let turn = 0; turn < 2; turn++) {
      const other = open(url);
      other.write("PATCH /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
      expect(await readUntilGone(other)).toMatch(/^HTTP\/1\.1 408 /);
    }
    answer.resolve();
    expect(String(await readAll(socket))).toContain("a job");
  });

  test("with the head of its request, or with a first one at all, is cut off", async () => {
    const url = await routerFor(configFor([]), { headTimeoutMs: 500 });
    const sockets = ["", "GET /x HTTP/1.1\r\nA: "].map((text) => {
      const socket = open(url);
      socket.write(text);
      if (text !== "") trickle(socket);
      return socket;
    });
    for (const socket of sockets) expect(await readUntilGone(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("may be silent for long on a connection for another protocol", async () => {
    const pod = await startPod(() => undefined);
    const server = createServer().on("upgrade", (_, socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
      socket.on("error", () => undefined).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const other = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const url = await routerFor(configFor([other, pod.url], SLOW));
    const socket = open(url);
    socket.write("GET /session HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 101 /);
    // A pod that is asked later is given up for its silence, one after the other.
    for (let turn = 0; turn < 2; turn++) expect((await call(`${url}/pods/2/x`)).status).toBe(503);
    socket.write("still here");
    expect(String((await once(socket, "data"))[0])).toBe("still here");
  });
});
