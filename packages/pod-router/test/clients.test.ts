import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { readAll, routerFor, startPod } from "./pods.ts";
import { configFor } from "./router-config.ts";

interface Seen {
  readonly calls: string[];
  readonly url: URL;
}

/** A router before a pod that answers with the name and the body of each request, and notes what it was asked. */
async function start(limits: { readonly idleTimeoutMs?: number } = {}): Promise<Seen> {
  const calls: string[] = [];
  const pod = await startPod((request, response) => {
    // A request may break off.
    void readAll(request).then(
      (body) => {
        calls.push(`${request.method} ${request.url} ${body.toString("latin1")}`);
        if (request.url?.startsWith("/length") === true) response.setHeader("Content-Length", 2);
        if (request.url === "/none") response.writeHead(204);
        else if (request.method !== "HEAD") response.write(request.url === "/big" ? "x".repeat(100_000) : "ok");
        response.end();
      },
      () => undefined,
    );
  });
  return { calls, url: new URL(await routerFor(configFor([pod.url], limits))) };
}

function open(url: URL): Socket {
  const socket = connect(Number(url.port), url.hostname);
  onTestFinished(() => void socket.destroy());
  return socket.on("error", () => undefined);
}

/** Sends bytes and gives all that comes back until the router ends the connection. */
async function ask(url: URL, text: string): Promise<string> {
  const socket = open(url);
  socket.write(text, "latin1");
  return (await readAll(socket)).toString("latin1");
}

const CLOSE = "Host: x\r\nConnection: close\r\n\r\n";
const statusesOf = (answers: string): string[] => answers.match(/HTTP\/1\.1 \d+/g) ?? [];

describe("a client of a router", () => {
  test("may send its requests ahead, and gets the answers in their order", async () => {
    const { calls, url } = await start();
    const post = (path: string, body: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const chunked =
      "PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nA: b\r\n\r\n";
    const answers = await ask(url, `${post("/a", "one")}\r\n${post("/b", "")}${chunked}GET /d HTTP/1.1\r\n${CLOSE}`);
    expect(calls).toEqual(["POST /a one", "POST /b ", "PUT /c abc", "GET /d "]);
    expect(statusesOf(answers)).toEqual(Array.from({ length: 4 }, () => "HTTP/1.1 200"));
  });

  test("that sends no more of its body is told so, and its pod is not blamed", async () => {
    const { url } = await start({ idleTimeoutMs: 1000 });
    const answer = await ask(url, "PATCH /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
    expect(statusesOf(answer)).toEqual(["HTTP/1.1 408"]);
    expect(answer).toContain("The rest of the body did not come");
  });

  test.each([
    ["GET /length", "HEAD", /\r\nContent-Length: 2\r\n[^]*\r\n\r\n$/],
    ["/none", "GET", /^HTTP\/1\.1 204 [^]*\r\n\r\n$/],
  ])("gets no body that there is none of: %s", async (path, method, expected) => {
    const { url } = await start();
    const answer = await ask(url, `${method} ${path.replace("GET ", "")} HTTP/1.1\r\n${CLOSE}`);
    expect(answer).toMatch(expected);
    expect(answer).not.toMatch(/transfer-encoding/i);
  });

  test("of HTTP/1.0 gets an answer without chunks, and its connection is closed", async () => {
    const { url } = await start();
    const answer = await ask(url, "GET /a HTTP/1.0\r\n\r\n");
    expect(answer).toMatch(/\r\nConnection: close\r\n\r\nok$/);
    expect(answer).not.toMatch(/chunked/i);
  });

  test("that waits for a word before it sends a body gets it", async () => {
    const { calls, url } = await start();
    const socket = open(url);
    socket.write(
      "PATCH /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 4\r\n\r\n",
    );
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(first.toString("latin1")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write("body");
    expect(statusesOf((await readAll(socket)).toString("latin1"))).toEqual(["HTTP/1.1 200"]);
    expect(calls).toEqual(["PATCH /a body"]);
  });

  test.each([
    ["no HTTP", 400, "nonsense\r\n\r\n"],
    ["no host", 400, "GET /a HTTP/1.1\r\n\r\n"],
    ["a head without an end", 431, `GET /a HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(20_000)}`],
    [
      "two lengths",
      400,
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 30\r\n\r\nxGET /b HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    [
      "a length and chunks",
      400,
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    [
      "a chunk that is longer than it says",
      400,
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
    ],
    [
      "trailers without an end",
      431,
      `POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${"A: b\r\n".repeat(5000)}`,
    ],
  ])("is told that it is no request, and no pod hears of it: %s", async (_, status, text) => {
    const { calls, url } = await start();
    expect(statusesOf(await ask(url, text))).toEqual([`HTTP/1.1 ${status}`]);
    expect(calls).toEqual([]);
    expect(await ask(url, `GET /-/router/health HTTP/1.1\r\n${CLOSE}`)).toContain("HTTP/1.1 200");
  });
});
