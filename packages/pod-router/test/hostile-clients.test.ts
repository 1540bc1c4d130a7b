import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { call, echo, readAll, readUntilGone, routerFor, startPod } from "./pods.ts";
import { configFor } from "./router-config.ts";

function open(url: string): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  return socket.on("error", () => undefined);
}

/** Sends bytes and gives all that comes back until the router ends the connection. */
async function ask(url: string, text: string): Promise<string> {
  const socket = open(url);
  socket.write(text, "latin1");
  return await readUntilGone(socket);
}

const POST = "POST /api/v4/jobs/1 HTTP/1.1\r\nHost: x\r\n";
const NEXT = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";

describe("a hostile client", () => {
  test.each([
    ["a length with a sign", `${POST}Content-Length: +5\r\n\r\nhello${NEXT}`],
    ["a length in other digits", `${POST}Content-Length: 0x5\r\n\r\nhello${NEXT}`],
    ["a list of lengths", `${POST}Content-Length: 5, 5\r\n\r\nhello${NEXT}`],
    ["a length twice", `${POST}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello${NEXT}`],
    ["a length that no number can hold", `${POST}Content-Length: 18446744073709551621\r\n\r\nhello${NEXT}`],
    ["a space before a colon", `${POST}Content-Length : 5\r\n\r\nhello${NEXT}`],
    ["chunks before a length", `${POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${NEXT}`],
    ["a coding that is none", `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${NEXT}`],
    ["chunks that are not the last coding", `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${NEXT}`],
    ["two codings", `${POST}Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`],
    [
      "chunks twice",
      `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n`,
    ],
    ["a folded coding", `${POST}Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${NEXT}`],
    ["a line that only a feed ends", `${POST}A: b\nContent-Length: 5\r\n\r\nhello`],
    ["a head that only feeds end", "GET /x HTTP/1.1\nHost: x\n\n"],
    ["a carriage return in a header", `${POST}A: b\rContent-Length: 5\r\n\r\nhello`],
    ["a zero in a header", `${POST}A: \0\r\n\r\n`],
    ["a chunk whose size has a sign", `${POST}Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n`],
    ["a chunk whose line only a feed ends", `${POST}Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n`],
    [
      "a chunk whose size no number can hold",
      `${POST}Transfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n`,
    ],
    ["a space in a path", "GET /x /y HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["no host", "GET /x HTTP/1.1\r\n\r\n"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("is told that this is no request: %s", async (_, text) => {
    const heard: string[] = [];
    const pod = await startPod((request, response) => {
      void readAll(request).then(
        (body) => {
          heard.push(`${request.method} ${request.url} ${String(body)}`);
          response.end();
        },
        () => undefined,
      );
    });
    const answer = await ask(await routerFor(configFor([pod.url])), text);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
    expect(heard).toEqual([]);
  });

  test("gets no tunnel", async () => {
    const pod = await startPod(echo("one"));
    const url = await routerFor(configFor([pod.url]));
    expect(await ask(url, `CONNECT ${pod.url.host} HTTP/1.1\r\nHost: x\r\n\r\n`)).toBe("");
    expect(pod.sockets.size).toBe(0);
  });

  test("chooses no host, whatever it writes into its first line", async () => {
    const pod = await startPod(echo("one"));
    const url = await routerFor(configFor([pod.url]));
    const answer = await ask(
      url,
      "GET http://evil.example/a?b HTTP/1.1\r\nHost: y\r\nHost: z\r\nConnection: close, Host\r\n\r\n",
    );
    const body = JSON.parse(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1)) as Record<string, unknown>;
    expect(body).toMatchObject({ url: "/a?b", headers: { host: pod.url.host, "x-forwarded-host": "y" } });
  });

  test("hides no length behind many other headers", async () => {
    const pod = await startPod(echo("one"));
    const url = await routerFor(configFor([pod.url]));
    const many = "a:\r\n".repeat(1100);
    const answer = await ask(url, `PATCH /x HTTP/1.1\r\nHost: x\r\n${many}Content-Length: 50\r\n\r\n${NEXT}`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 431"]);
    expect(pod.sockets.size).toBe(0);
  });

  test("has one request at a pod at a time, however many it sends ahead", async () => {
    const asked: string[] = [];
    const pod = await startPod((request, response) => {
      asked.push(request.url ?? "");
      if (request.url === "/0") held.resolve(() => response.end("first"));
      else response.end("next");
    });
    const held = Promise.withResolvers<() => void>();
    const url = await routerFor(configFor([pod.url]));
    const socket = open(url);
    socket.write(Array.from({ length: 8 }, (_, at) => `GET /${at} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""));
    const release = await held.promise;
    // The answer to another client tells that the router has read what came before.
    expect((await call(`${url}/other`)).status).toBe(200);
    expect(asked).toEqual(["/0", "/other"]);
    release();
    await expect.poll(() => asked.length).toBe(9);
    expect(asked.slice(2)).toEqual(["/1", "/2", "/3", "/4", "/5", "/6", "/7"]);
  });

  test("takes its request with it, also when it has sent another ahead", async () => {
    const asked = Promise.withResolvers<Socket>();
    const pod = await startPod((request) => asked.resolve(request.socket));
    const socket = open(await routerFor(configFor([pod.url], { idleTimeoutMs: 2 ** 30 })));
    socket.write("GET /0 HTTP/1.1\r\nHost: x\r\n\r\nGET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    const left = once(await asked.promise, "close");
    socket.end();
    await left;
  });

  test("is cut off when it sends very many requests ahead", async () => {
    const asked: string[] = [];
    const pod = await startPod((request) => void asked.push(request.url ?? ""));
    const url = await routerFor(configFor([pod.url]));
    expect(await ask(url, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000))).toBe("");
    expect((await call(`${url}/-/router/health`)).status).toBe(200);
    expect(asked.length).toBeLessThanOrEqual(1);
  });

  test("changes to no other protocol while an answer is on its way", async () => {
    const urls: string[] = [];
    const pod = await startPod((request) => void urls.push(request.url ?? ""));
    const socket = open(await routerFor(configFor([pod.url])));
    socket.write(
      "GET /held HTTP/1.1\r\nHost: x\r\n\r\n" +
        "GET /session HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    await once(socket.resume(), "close");
    expect(urls).not.toContain("/session");
  });

  test("changes to no protocol but WebSocket, beside which a pod could be asked for anything", async () => {
    const pod = await startPod(echo("one"));
    const url = await routerFor(configFor([pod.url]));
    const upgrade =
      "Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n";
    const answer = await ask(url, `GET /x HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toMatch(/h2c|http2-settings/);
  });

  test("is told why its body is not taken, however much of it there is", async () => {
    const pod = await startPod(echo("one"));
    const url = await routerFor(configFor([pod.url]));
    const body = Buffer.alloc(20 * 1024 * 1024);
    for (const headers of [{ "Content-Length": body.length }, { "Transfer-Encoding": "chunked" }])
      expect((await call(`${url}/api/v4/jobs/request`, { method: "POST", headers }, body)).status).toBe(413);
  });

  test.each(["/x", "/pods/9/x", "/api/v4/jobs/request"])(
    "with a body without an end is cut off after its answer: %s",
    { timeout: 60_000 },
    async (path) => {
      const pod = await startPod((_, response) => response.writeHead(401).end());
      const socket = open(await routerFor(configFor([pod.url])));
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.resume().write(`POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
      const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(0x100000), Buffer.from("\r\n")]);
      const send = (): void => void (socket.writable && socket.write(chunk, () => setImmediate(send)));
      send();
      await closed;
    },
  );

  test("reads no figures of a pod", async () => {
    const pod = await startPod(echo("one"));
    const url = await routerFor(configFor([pod.url]));
    for (const path of ["/metrics", "/metrics?x", "/metrics/", "/pods/1/metrics", "/pods/1/pods/1/metrics"])
      expect((await call(url + path)).status).toBe(404);
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    expect(await ask(url, `GET /metrics HTTP/1.1\r\nHost: x\r\n${upgrade}`)).toMatch(/^HTTP\/1\.1 400 /);
    expect((await call(`${url}/api/v4/metrics`)).status).toBe(200);
  });
});
