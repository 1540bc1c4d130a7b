import { once } from "node:events";
import { Agent } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { startRouter } from "../src/index.ts";
import { call, echo, routerFor, startPod } from "./pods.ts";
import { configFor } from "./router-config.ts";

/** A pod that says what it likes on each connection; gives its URL. */
async function startRawPod(talk: (socket: Socket) => void, protocol = "http"): Promise<URL> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return new URL(`${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const UPGRADE = "GET /session HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

function open(url: string): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

describe("a pod", () => {
  test("whose TLS never begins is given up as one that cannot be reached", async () => {
    const url = await routerFor(
      configFor([await startRawPod((socket) => void socket.resume(), "https")], { idleTimeoutMs: 2 ** 30 }),
    );
    expect(await call(`${url}/x`)).toMatchObject({ status: 503, headers: { "retry-after": "2" } });
  });

  test.each([
    ["before an answer", "", 503],
    ["in a head", "HTTP/1.1 200 OK\r\nContent-", 503],
    ["after another protocol that nobody asked for", "HTTP/1.1 101 Switching Protocols\r\n\r\n", 503],
    ["after nonsense", "SSH-2.0-x\r\n\r\n", 503],
  ])("that ends its connection %s is 503", async (_, text, status) => {
    const pod = await startRawPod((socket) => void socket.once("data", () => socket.end(text)));
    expect((await call(`${await routerFor(configFor([pod]))}/x`)).status).toBe(status);
  });

  test.each([
    ["in a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"],
    ["in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"],
    ["before the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
    ["in its trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n"],
  ])("that ends its connection %s makes no whole answer of it", async (_, text) => {
    const pod = await startRawPod((socket) => void socket.once("data", () => socket.end(text)));
    await expect(call(`${await routerFor(configFor([pod]))}/x`)).rejects.toThrow();
  });

  test("that says more than it was asked has its connection closed, and the next request gets its own answer", async () => {
    let connections = 0;
    const pod = await startRawPod((socket) => {
      const name = ++connections;
      socket.on("data", () => {
        const answer = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
        socket.write(answer(`own ${name}`) + answer("poison"));
      });
    });
    const url = await routerFor(configFor([pod]));
    expect((await call(`${url}/x`)).body).toBe("own 1");
    expect((await call(`${url}/x`)).body).toBe("own 2");
  });

  test("is let go of when its client takes nothing of another protocol", async () => {
    const ended = Promise.withResolvers<void>();
    const pod = await startRawPod((socket) => {
      const big = Buffer.alloc(64 * 1024);
      const send = (): void => void (socket.writable && socket.write(big, () => setImmediate(send)));
      socket.once("data", () => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        send();
      });
      socket.once("close", ended.resolve);
    });
    open(await routerFor(configFor([pod], { idleTimeoutMs: 1000 })))
      .pause()
      .write(UPGRADE);
    await ended.promise;
  });
});

test("a client that has asked for nothing does not keep a router from its end", async () => {
  const router = await startRouter(configFor([]), { port: 0 });
  const socket = open(router.url);
  await once(socket, "connect");
  expect((await call(`${router.url}/-/router/health`)).status).toBe(200);
  await router.close(2 ** 40);
});

test("a client that asks again and again on one connection does not keep a router from its end", async () => {
  const pod = await startPod(echo("one"));
  const router = await startRouter(configFor([pod.url]), { port: 0 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  let answered = 0;
  const ask = async (): Promise<boolean> =>
    await call(`${router.url}/x`, { agent }).then(
      () => (answered += 1) > 0,
      () => false,
    );
  const asking = (async () => {
    while (await ask());
  })();
  await expect.poll(() => answered).toBeGreaterThan(3);
  await router.close(2 ** 40);
  await asking;
});
