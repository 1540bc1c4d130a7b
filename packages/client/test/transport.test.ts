import { once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, connect, createServer as createNetServer, type Server, type Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { RunRequestSchema } from "@steps/proto/service";
import { expect, onTestFinished, test } from "vitest";
import { Http2Session } from "../src/http2-session.ts";
import { connectService, type ServiceClient } from "../src/index.ts";
import { dialSocket, type FakeService, startFakeService } from "./fake-service.ts";

/** A stream that is no socket: what an exec over WebSocket or SSH gives. */
async function dialThrough(fake: FakeService, signal: AbortSignal): Promise<Duplex> {
  const socket = await dialSocket(fake.path, signal);
  const [near, far] = duplexPair();
  far.pipe(socket).pipe(far);
  far.on("error", () => undefined);
  socket.on("error", () => undefined);
  near.on("close", () => socket.destroy());
  socket.on("close", () => near.destroy());
  return near;
}

async function withRunningJob(): Promise<{ fake: FakeService; service: ServiceClient }> {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("running\n"));
  const service = await connectService(fake.dial);
  onTestFinished(() => service[Symbol.dispose]());
  await service.run(create(RunRequestSchema, { id: "a" }));
  return { fake, service };
}

const START = { stdout: 0, stderr: 0 };

test("says who answers", async () => {
  const fake = await startFakeService();
  using service = await connectService(fake.dial);
  expect(service.server).toEqual({ name: "fake 1", instance: "one" });
});

test("a reader that leaves ends the call at the service", async () => {
  const { fake, service } = await withRunningJob();
  const job = fake.jobs.get("a");
  for await (const { bytes } of service.followIO("a", START)) {
    expect(Buffer.from(bytes).toString()).toBe("running\n");
    break;
  }
  await expect.poll(() => job?.changed.listenerCount("change")).toBe(0);
  expect(service.lost.aborted).toBe(false);
});

test("an aborted call is Canceled, here and at the service", async () => {
  const { fake, service } = await withRunningJob();
  const stop = new AbortController();
  const read = async (): Promise<void> => {
    for await (const piece of service.followIO("a", START, { signal: stop.signal }))
      if (piece.bytes.length > 0) stop.abort();
  };
  await expect(read()).rejects.toMatchObject({ code: Code.Canceled });
  await expect.poll(() => fake.jobs.get("a")?.changed.listenerCount("change")).toBe(0);
  expect(await service.list()).toHaveLength(1);
});

test("a call that is answered too late is over in time", async () => {
  const { fake, service } = await withRunningJob();
  fake.onCall = () => new Promise(() => undefined);
  await expect(service.list([], { timeoutMs: 50 })).rejects.toMatchObject({ code: Code.DeadlineExceeded });
});

test.each(["socket", "stream"])("whatever loses a %s, the calls on it are Unavailable", async (kind) => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("running\n"));
  const ways: Record<string, (duplex: Duplex) => void> = {
    ...(kind === "stream" ? { "end of input": (duplex: Duplex) => duplex.push(null) } : {}),
    "the service ends": () => fake.cut(),
    destroy: (duplex) => duplex.destroy(),
    "destroy with an error": (duplex) => duplex.destroy(new Error("container stopped")),
  };
  for (const [way, lose] of Object.entries(ways)) {
    const dialling = Promise.withResolvers<Duplex>();
    using service = await connectService((signal) => {
      dialling.resolve(kind === "socket" ? fake.dial(signal) : dialThrough(fake, signal));
      return dialling.promise;
    });
    const duplex = await dialling.promise;
    await service.run(create(RunRequestSchema, { id: "a" }));
    const read = async (): Promise<void> => {
      for await (const piece of service.followIO("a", START)) if (piece.bytes.length > 0) lose(duplex);
    };
    await expect(read(), way).rejects.toMatchObject({
      code: Code.Unavailable,
      ...(way === "destroy with an error" ? { message: expect.stringContaining("container stopped") } : {}),
    });
    await expect(service.list(), way).rejects.toMatchObject({ code: Code.Unavailable });
    expect(service.lost.aborted, way).toBe(true);
    expect(duplex.destroyed, way).toBe(true);
  }
  await expect.poll(() => fake.sockets.size).toBe(0);
});

test("a connection that ends before anything came is said to be lost, and no more", async () => {
  const fake = await startFakeService();
  const connecting = connectService(async (signal) => {
    const socket = await dialSocket(fake.path, signal);
    setImmediate(() => socket.destroy());
    return socket;
  });
  await expect(connecting).rejects.toMatchObject({ code: Code.Unavailable, rawMessage: "The connection was lost" });
});

test("60 connections lost at any moment of a call do no harm", async () => {
  const fake = await startFakeService();
  const codes = new Set<number>();
  for (let at = 0; at < 60; at++) {
    const connecting = connectService(async (signal) => {
      const duplex = await (at % 2 === 0 ? fake.dial(signal) : dialThrough(fake, signal));
      let left = at;
      const step = (): void => void (left-- > 0 ? setImmediate(step) : duplex.destroy());
      step();
      return duplex;
    });
    const calls = connecting.then(async (service) => {
      for (;;) await service.list();
    });
    await calls.catch((error: { code: number }) => codes.add(error.code));
  }
  expect([...codes]).toEqual([Code.Unavailable]);
});

async function listen<S extends Server>(server: S): Promise<() => Promise<Socket>> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return async () => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  };
}

test.each([
  ["says nothing and goes", (socket: Socket) => void socket.end()],
  ["speaks HTTP/1.1", (socket: Socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ["prints an error", (socket: Socket) => void socket.end("OCI runtime exec failed: exec failed: no such file\n")],
  ["sends garbage", (socket: Socket) => void socket.write(Buffer.alloc(4096, 0xff))],
])("a peer that %s is no service", async (_, behave) => {
  const dial = await listen(createNetServer(behave));
  await expect(connectService(dial)).rejects.toMatchObject({ code: Code.Unavailable });
});

test("a peer that never answers is no service", async () => {
  const dial = await listen(createNetServer((socket) => void socket.resume()));
  await expect(connectService(dial)).rejects.toMatchObject({
    code: Code.Unavailable,
    message: /No service answered within 5 s/,
  });
});

test("a service without our calls says so", async () => {
  const dial = await listen(createServer((_, response) => void response.writeHead(404).end()) as unknown as Server);
  await expect(connectService(dial)).rejects.toMatchObject({
    code: "REFUSED",
    message: /without steps\.v1\.StepRunner/,
  });
});

test("a service that goes lets calls end, and takes no more", async () => {
  const fake = await startFakeService();
  fake.onStart = (job) => job.write("stdout", Buffer.from("running\n"));
  const sessions: ServerHttp2Session[] = [];
  fake.onSession = (session) => sessions.push(session);
  using service = await connectService(fake.dial);
  await service.run(create(RunRequestSchema, { id: "a" }));
  const read = async (): Promise<string> => {
    let text = "";
    for await (const { bytes } of service.followIO("a", START)) {
      text += Buffer.from(bytes).toString();
      if (!text.includes("last")) {
        sessions[0]?.close();
        fake.jobs.get("a")?.write("stdout", Buffer.from("last\n"));
        fake.jobs.get("a")?.end(0);
      }
    }
    return text;
  };
  expect(await read()).toBe("running\nlast\n");
  await once(service.lost, "abort");
  await expect(service.list()).rejects.toMatchObject({ code: Code.Unavailable });
});

test("a peer that is silent is lost; one that answers pings is not", async () => {
  const fake = await startFakeService();
  const alive = new Http2Session(await fake.dial(AbortSignal.timeout(5000)));
  alive.keepAlive(5, 10_000);
  const dialSilent = await listen(createNetServer((socket) => void socket.resume()));
  const silent = new Http2Session(await dialSilent());
  silent.keepAlive(5, 50);
  await once(silent.lost, "abort");
  expect(silent.lost.reason).toMatchObject({ code: Code.Unavailable, message: /did not answer for 0.05 s/ });
  expect(alive.lost.aborted).toBe(false);
  alive[Symbol.dispose]();
});

test("a dial that does not heed its signal is not waited for, and what comes of it is thrown away", async () => {
  const fake = await startFakeService();
  const stop = new AbortController();
  const dialled = Promise.withResolvers<Duplex>();
  const connecting = connectService(() => dialled.promise, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(connecting).rejects.toThrow("enough");
  const late = await fake.dial(AbortSignal.timeout(5000));
  dialled.resolve(late);
  await once(late, "close");
});
