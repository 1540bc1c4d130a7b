import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { StepRunner } from "@steps/proto/service";
import { hasProgram } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { listenPort, type PortOptions, stopService } from "../src/listen/index.ts";
import { openWorld, readAll, type World } from "./harness.ts";

interface PortWorld extends World {
  readonly url: string;
}

async function openPort(options: Partial<PortOptions> = {}): Promise<PortWorld> {
  const world = await openWorld();
  const listener = await listenPort(world.service, { port: 0, token: "secret", ...options });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    (stopped ??= Promise.all([stopService(world.service, [listener]), world.stop()]).then(() => undefined));
  onTestFinished(stop);
  return { ...world, url: listener.address, stop };
}

const path = "/steps.v1.StepRunner/";
const json = { "content-type": "application/json" };
const bearer = { authorization: "Bearer secret" };

describe.each([
  ["gRPC", (url: string) => createGrpcTransport({ baseUrl: url })],
  ["gRPC-Web over HTTP/1.1", (url: string) => createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" })],
  ["gRPC-Web over HTTP/2", (url: string) => createGrpcWebTransport({ baseUrl: url, httpVersion: "2" })],
  ["Connect over HTTP/1.1", (url: string) => createConnectTransport({ baseUrl: url, httpVersion: "1.1" })],
  ["Connect over HTTP/2", (url: string) => createConnectTransport({ baseUrl: url, httpVersion: "2" })],
])("%s on the port", (_name, transportTo) => {
  test("runs, follows, and needs the token", async () => {
    const { url } = await openPort();
    const client = createClient(StepRunner, transportTo(url));
    const error = await client.list({}).catch((cause: unknown) => ConnectError.from(cause));
    expect(error).toMatchObject({ code: Code.Unauthenticated });
    const headers = bearer;
    await client.run({ id: "a", ciScript: "head -c 1000000 /dev/zero" }, { headers });
    let bytes = 0;
    for await (const { stream } of client.followIO({ id: "a" }, { headers })) bytes += stream.length;
    expect(bytes).toBe(1_000_000);
    expect((await client.list({}, { headers })).jobs).toHaveLength(1);
  });
});

describe("HTTP/1.1", () => {
  test.skipIf(!hasProgram("curl"))("curl runs a job and reads its output", async () => {
    const { url, ours } = await openPort();
    const curl = async (method: string, body: object, ...more: string[]): Promise<string> => {
      const args = ["-sS", "-H", "content-type: application/json", "-H", "authorization: Bearer secret", ...more];
      const child = spawn("curl", [...args, "-d", JSON.stringify(body), `${url}${path}${method}`]);
      let text = "";
      child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
      await once(child, "close");
      return text;
    };
    expect(await curl("Run", { id: "a", ciScript: "echo hi" })).toBe("{}");
    await readAll(ours, "a");
    const list = JSON.parse(await curl("List", {})) as { jobs: { id: string; status: string }[] };
    expect(list.jobs).toMatchObject([{ id: "a" }]);
    const list2 = JSON.parse(await curl("List", {}, "--http2-prior-knowledge")) as typeof list;
    expect(list2.jobs).toMatchObject([{ id: "a" }]);
    const refused = JSON.parse(await curl("Cancel", { id: "x" })) as object;
    expect(refused).toEqual({ code: "not_found", message: 'There is no job "x"' });
  });

  test("a request without side effects may be a GET", async () => {
    const { url } = await openPort();
    const answer = await fetch(`${url}${path}List?encoding=json&message=%7B%7D`, { headers: bearer });
    expect(await answer.json()).toMatchObject({ runner: { name: "test" } });
  });

  test("a browser of any page may ask, and needs the token", async () => {
    const { url } = await openPort();
    const origin = "https://ci.example.com";
    const preflight = await fetch(`${url}${path}List`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toMatch(/content-type.*authorization/);
    const list = await fetch(`${url}${path}List`, {
      method: "POST",
      body: "{}",
      headers: { ...json, ...bearer, origin },
    });
    expect([list.status, list.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    const without = await fetch(`${url}${path}List`, { method: "POST", body: "{}", headers: { ...json, origin } });
    expect([without.status, await without.json()]).toEqual([401, expect.objectContaining({ code: "unauthenticated" })]);
  });

  test("without a token it is for programs, not for web pages", async () => {
    const { url } = await openPort({ token: undefined });
    const list = (headers: object) =>
      fetch(`${url}${path}List`, { method: "POST", body: "{}", headers: { ...json, ...headers } });
    expect((await list({})).status).toBe(200);
    expect((await list({ origin: "https://evil.example.com" })).status).toBe(403);
  });

  test("a name that leads here by its DNS is refused", async () => {
    const { url } = await openPort();
    const port = new URL(url).port;
    const ask = async (host: string): Promise<string> => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.end(
        `POST ${path}List HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nAuthorization: Bearer secret\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      let text = "";
      for await (const chunk of socket) text += String(chunk);
      return text.slice(9, 12);
    };
    expect(await ask(`evil.example.com:${port}`)).toBe("403");
    expect(await ask(`localhost.evil.example.com`)).toBe("403");
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, "127.0.0.2", `[::1]:${port}`])
      expect(await ask(host)).toBe("200");
  });

  test.each(["127.1", "localhost"])(
    "a name that leads here by its DNS is refused on --host %s, but that name is not",
    async (host) => {
      const { url } = await openPort({ host, token: undefined });
      const { port, hostname } = new URL(url);
      const ask = async (name: string): Promise<string> => {
        const socket = connect(Number(port), hostname.replace(/[[\]]/g, ""));
        socket.end(
          `GET ${path}List?encoding=json&message=%7B%7D HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`,
        );
        let text = "";
        for await (const chunk of socket) text += String(chunk);
        return text.slice(9, 12);
      };
      expect(await ask("evil.example.com")).toBe("403");
      expect(await ask(`${host}:${port}`)).toBe("200");
      expect(await ask(host.toUpperCase())).toBe("200");
    },
  );

  test("garbage, and a preface byte by byte", async () => {
    const world = await openPort();
    const port = Number(new URL(world.url).port);
    for (const bytes of ["\0\0\0\0", "PRI * HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "POST / HTTP/9\r\n\r\n"]) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined).resume();
      socket.end(bytes);
      await once(socket, "close");
    }
    const slow = connect(port, "127.0.0.1");
    slow.setNoDelay(true);
    onTestFinished(() => void slow.destroy());
    const greeting = Buffer.concat([
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
    ]);
    for (const byte of greeting) {
      slow.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [first] = (await once(slow, "data")) as [Buffer];
    // Settings of the server.
    expect(first[3]).toBe(4);
  });
});

test("a port that is taken is said to be", async () => {
  const { url, service } = await openPort();
  await expect(listenPort(service, { port: Number(new URL(url).port), token: "x" })).rejects.toMatchObject({
    code: "SOCKET_IN_USE",
  });
  await expect(listenPort(service, { port: 0, host: "no.such.invalid", token: "x" })).rejects.toMatchObject({
    code: "SOCKET_UNUSABLE",
    message: 'Cannot listen on port 0 of "no.such.invalid": ENOTFOUND',
  });
});

test("a stop ends idle connections and calls that run", async () => {
  const world = await openPort();
  await fetch(`${world.url}${path}List`, { method: "POST", body: "{}", headers: { ...json, ...bearer } });
  const client = createClient(StepRunner, createConnectTransport({ baseUrl: world.url, httpVersion: "1.1" }));
  await client.run({ id: "a", ciScript: "echo on; sleep 60" }, { headers: bearer });
  const output = client.followIO({ id: "a" }, { headers: bearer })[Symbol.asyncIterator]();
  await output.next();
  const end = output.next();
  await world.stop();
  expect((await end).done).toBe(true);
  await expect(fetch(world.url)).rejects.toThrow();
});
