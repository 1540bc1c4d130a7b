import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createHttpConnections } from "./http-connections.ts";
import { end } from "../request/request-handler.ts";

async function open(): Promise<() => Socket> {
  const connections = createHttpConnections(
    (request, reply) => end(request, reply, { status: 200, headers: {}, body: "hi" }),
    { headersMs: 200 },
  );
  const server = createServer((socket) => connections.take(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    connections.destroy();
    await connections.ended();
  });
  const { port } = server.address() as AddressInfo;
  return () => connect(port, "127.0.0.1").on("error", () => undefined);
}

const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

test.each([
  ["the first request", ["GET / HT"]],
  ["a later request", [REQUEST, "GET / HT"]],
])("a connection is ended on which the header of %s does not come", async (_, parts) => {
  const socket = (await open())();
  for (const part of parts) {
    socket.write(part);
    if (part === REQUEST) await once(socket, "data");
  }
  socket.resume();
  await once(socket, "close");
});

test("requests that come one after the other are answered on one connection, for as long as they come", async () => {
  const socket = (await open())();
  const end = Date.now() + 1000;
  let answers = 0;
  while (Date.now() < end) {
    socket.write(REQUEST);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1.1 200 OK/);
    answers += 1;
  }
  expect(answers).toBeGreaterThan(1);
});
