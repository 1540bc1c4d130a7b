import { once } from "node:events";
import { connect, createServer, Server, type AddressInfo, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { readAll, routerFor } from "./pods.ts";
import { configFor } from "./router-config.ts";

const HEAD = "GET /session HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/** A client that asks for another protocol, and the connection on which a pod is asked for it. */
async function start(sent: string): Promise<{ readonly client: Socket; readonly pod: Socket }> {
  const pods = createServer();
  await new Promise<void>((resolve) => pods.listen(0, "127.0.0.1", resolve));
  const url = await routerFor(configFor([new URL(`http://127.0.0.1:${(pods.address() as AddressInfo).port}`)]));
  const client = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
  const asked = once(pods, "connection") as Promise<[Socket]>;
  client.write(sent);
  const [pod] = await asked;
  onTestFinished(() => {
    client.destroy();
    pod.destroy();
    pods.close();
  });
  return { client, pod: pod.on("error", () => undefined) };
}

/** Reads until the text has arrived, and leaves what comes later to the next reader. */
async function readUpTo(socket: Socket, end: string): Promise<string> {
  let text = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.endsWith(end)) return text;
  }
  throw new Error(`The connection ended before "${end}": ${text}`);
}

test("nothing is lost that a client sends before its pod agrees to another protocol", async () => {
  const { client, pod } = await start(`${HEAD}first `);
  await readUpTo(pod, "\r\n\r\n");
  client.write("second ");
  // The answer to another connection tells that the router has read what came before.
  const other = connect(client.remotePort ?? 0, "127.0.0.1");
  other.write("GET /-/router/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  await readAll(other);
  pod.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  await once(client, "data");
  client.write("third");
  expect(await readUpTo(pod, "third")).toBe("first second third");
});

test("an answer in plain HTTP that breaks off ends the connection of the client that asked for another protocol", async () => {
  const { client, pod } = await start(HEAD);
  await readUpTo(pod, "\r\n\r\n");
  pod.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  expect(String(await readAll(client))).toMatch(/\r\n\r\nhalf$/);
});

test("a connection that the system cannot accept costs a router nothing", async () => {
  const listen = vi.spyOn(Server.prototype, "listen");
  onTestFinished(() => listen.mockRestore());
  await routerFor(configFor([]));
  const [server] = listen.mock.contexts as Server[];
  for (let turn = 0; turn < 3; turn++) expect(server?.emit("error", new Error("accept ENOBUFS"))).toBe(true);
});

test("a body reaches its pod from a client that offers another protocol beside it", async () => {
  const head = "POST /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n";
  const { pod } = await start(`${head}hello`);
  expect(await readUpTo(pod, "hello")).toMatch(/\r\nContent-Length: 5\r\n\r\nhello$/);
});
