import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { echo, readUntilGone, routerFor, routerWithFigures, startPod } from "./pods.ts";
import { configFor } from "./router-config.ts";

const CALL = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";

function open(url: string, localAddress = "127.0.0.1"): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  onTestFinished(() => void socket.destroy());
  return socket.on("error", () => undefined);
}

/** The beginning of what comes back for a call on a connection. */
async function answerOn(socket: Socket): Promise<string> {
  socket.write(CALL);
  const [bytes] = (await once(socket, "data")) as [Buffer];
  return bytes.toString("latin1", 0, 12);
}

async function openMany(count: number, url: string, address?: string): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => open(url, address));
  await Promise.all(sockets.map(async (socket) => await once(socket, "connect")));
  return sockets;
}

describe("a router that has as many connections as it may have", () => {
  test("refuses those of a client with many, and serves those that are there and those of others", async () => {
    const pod = await startPod(echo("one"));
    const { url, figures } = await routerWithFigures(configFor([pod.url], { maxConnections: 10 }));
    const flood = await openMany(8, url, "127.0.0.2");
    for (const socket of flood) expect(await answerOn(socket)).toBe("HTTP/1.1 200");
    // Another one of the same client gets an answer without a request.
    expect(await readUntilGone(open(url, "127.0.0.2"))).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: 2\r\n/);
    expect(await figures()).toContain('pod_router_connections_refused_total{limit="client"} 1\n');
    expect(await figures()).toContain("pod_router_connections 8\n");
    expect(await answerOn(open(url, "127.0.0.3"))).toBe("HTTP/1.1 200");
    expect(await answerOn(open(url, "127.0.0.4"))).toBe("HTTP/1.1 200");
    // There is no place left for anybody, until one is given back.
    expect(await readUntilGone(open(url, "127.0.0.5"))).toMatch(/^HTTP\/1\.1 503 /);
    expect(await figures()).toContain('pod_router_connections_refused_total{limit="all"} 1\n');
    flood[0]?.destroy();
    await expect.poll(figures).toContain("pod_router_connections 9\n");
    expect(await answerOn(open(url, "127.0.0.5"))).toBe("HTTP/1.1 200");
    expect(await answerOn(flood[1] ?? open(url))).toBe("HTTP/1.1 200");
  });

  test("closes those of a flood without a word, and counts them", async () => {
    const pod = await startPod(echo("one"));
    const { url, figures } = await routerWithFigures(configFor([pod.url], { maxConnections: 5 }));
    const [first] = await openMany(4, url, "127.0.0.2");
    // None of these closes its connection by itself, whatever the router says.
    const flood = await openMany(300, url, "127.0.0.2");
    await expect.poll(figures).toMatch(/refused_total\{limit="client"\} \d+\n/);
    const refusals = async (): Promise<number> => {
      const rows = (await figures()).matchAll(/connections_refused_total\{limit="\w+"\} (\d+)\n/g);
      return Array.from(rows, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
    };
    await expect.poll(refusals).toBe(flood.length);
    expect(await figures()).toContain("pod_router_connections 4\n");
    expect(await answerOn(first ?? open(url))).toBe("HTTP/1.1 200");
  });
});

test("the figures of a router are at an address of their own", async () => {
  const pod = await startPod(echo("one"));
  const url = await routerFor(configFor([pod.url]));
  const socket = open(url);
  socket.write("GET /-/router/metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const answer = await readUntilGone(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  expect(answer).not.toContain("pod_router");
});
