import { connect, type Socket } from "node:net";
import { createServer } from "node:http2";
import { once } from "node:events";
import { join } from "node:path";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { gitlab, health } from "@steps/proto/service";
import { tempDir } from "@steps/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type Dial, runAndFollow } from "../src/index.ts";

/** A server of other services than ours. */
async function startServer(routes: (router: ConnectRouter) => void): Promise<{ dial: Dial; dials: () => number }> {
  const path = join(tempDir(), "s");
  const server = createServer(connectNodeAdapter({ routes }));
  const sockets = new Set<Socket>();
  let dials = 0;
  server.on("connection", (socket: Socket) => void sockets.add(socket));
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const dial: Dial = async (signal) => {
    dials++;
    const socket = connect(path);
    await once(socket, "connect", { signal });
    return socket;
  };
  return { dial, dials: () => dials };
}

test.each([
  ["knows no such job", new ConnectError("job not found", Code.NotFound)],
  ["of an older version says it otherwise", new ConnectError("no such job", Code.Unknown)],
])("GitLab's own service, which %s, is called by its name at once", async (_name, answer) => {
  const { dial, dials } = await startServer((router) =>
    router.service(gitlab.StepRunner, {
      status() {
        throw answer;
      },
    }),
  );
  await expect(runAndFollow(dial, { definition: "[]" })).rejects.toMatchObject({
    code: "REFUSED",
    message: expect.stringContaining("GitLab's own step runner"),
    hint: expect.stringContaining("step-runner serve"),
  });
  expect(dials()).toBe(1);
});

test("another server is no step runner", async () => {
  const { dial } = await startServer((router) => router.service(health.Health, {}));
  await expect(runAndFollow(dial, { definition: "[]" })).rejects.toMatchObject({
    code: "REFUSED",
    message: expect.stringContaining("no step runner"),
  });
});
