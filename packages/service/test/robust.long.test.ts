import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { JobTable } from "../src/index.ts";
import { callRaw, clientsOf, envelope, openSession, openWorld, readAll, type World } from "./harness.ts";

const LIST = "/steps.v1.StepRunner/List";

async function answers({ ours }: World): Promise<void> {
  expect((await ours.list({})).runner?.name).toBe("test");
}

function openConnection(socket: string): Socket {
  const connection = connect(socket);
  connection.on("error", () => undefined);
  onTestFinished(() => void connection.destroy());
  return connection;
}

describe("requests", () => {
  test.each(["unix:step-runner", "%2Ftmp%2Fx.sock", "[", "localhost:99999", "::", "step-runner.sock"])(
    "are answered when :authority is %s",
    async (authority) => {
      const world = await openWorld();
      const answer = await callRaw(openSession(world.socket), LIST, new Uint8Array(), { ":authority": authority });
      expect(answer.headers["grpc-status"]).toBe("0");
      await answers(world);
    },
  );

  test("whose :authority HTTP/2 itself refuses fail alone", async () => {
    const world = await openWorld();
    const session = openSession(world.socket);
    for (const authority of ["a b", "x@y:z"])
      await expect(callRaw(session, LIST, new Uint8Array(), { ":authority": authority })).rejects.toThrow(
        "PROTOCOL_ERROR",
      );
    expect((await callRaw(session, LIST, new Uint8Array())).headers["grpc-status"]).toBe("0");
  });

  test("to methods and services that are not there are UNIMPLEMENTED", async () => {
    const { socket } = await openWorld();
    const session = openSession(socket);
    for (const path of ["/proto.StepRunner/FollowSteps", "/a.B/C", "//", "/", "/%00"]) {
      const { status, headers } = await callRaw(session, path, new Uint8Array());
      expect([path, status, headers["grpc-status"]]).toEqual([path, 200, "12"]);
    }
    expect((await callRaw(session, "/a.B/C", new Uint8Array(), { "content-type": "application/json" })).status).toBe(
      404,
    );
  });

  test("that are no message, or too long, fail alone", async () => {
    const world = await openWorld();
    const session = openSession(world.socket);
    const broken = await callRaw(session, "/steps.v1.StepRunner/Run", Buffer.from("ffffffff", "hex"));
    expect(Number(broken.headers["grpc-status"])).toBe(Code.InvalidArgument);
    const stream = session.request({
      ":method": "POST",
      ":path": "/steps.v1.StepRunner/Run",
      "content-type": "application/grpc",
      te: "trailers",
    });
    const trailers = once(stream, "trailers");
    stream.on("error", () => undefined).resume();
    const closed = once(stream, "close");
    // It says that 4 GiB will come, and sends more than there is room for on the way.
    stream.write(Buffer.from("00ffffffff", "hex"));
    stream.write(Buffer.alloc(8 * 1024 * 1024));
    const [{ "grpc-status": status }] = (await trailers) as [Record<string, string>];
    expect(Number(status)).toBe(Code.ResourceExhausted);
    // It is told not to wait for room.
    await closed;
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    await answers(world);
  });

  test("that are many and large at once are refused before they fill the memory, and leave nothing behind", async () => {
    const world = await openWorld();
    const session = openSession(world.socket);
    const part = Buffer.alloc(1024 * 1024);
    const statuses: (string | undefined)[] = [];
    const send = async (): Promise<void> => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/steps.v1.StepRunner/Run",
        "content-type": "application/grpc",
        te: "trailers",
      });
      stream.on("error", () => undefined).resume();
      stream.once("trailers", (trailers: Record<string, string>) => statuses.push(trailers["grpc-status"]));
      const closed = once(stream, "close").then(() => true);
      // It says that 60 MiB will come, and stops before the last.
      stream.write(Buffer.from("0003c00000", "hex"));
      for (let sent = 0; sent < 59 && !stream.closed; sent++) {
        const written = new Promise<boolean>((resolve) => stream.write(part, () => resolve(false)));
        if (await Promise.race([written, closed])) return;
      }
    };
    await Promise.all(Array.from({ length: 6 }, send));
    await answers(world);
    expect(statuses.length).toBeGreaterThanOrEqual(1);
    expect(statuses.length).toBeLessThan(6);
    expect(new Set(statuses)).toEqual(new Set([String(Code.ResourceExhausted)]));
    // Those that wait for the rest of theirs go, and there is room again.
    session.destroy();
    await once(session, "close");
    const large = { id: "a", definition: "x".repeat(60 * 1024 * 1024) };
    await expect
      .poll(async () => ConnectError.from(await world.ours.run(large).catch((error: unknown) => error)).code)
      .toBe(Code.InvalidArgument);
  });

  test("of 8 MiB are read", async () => {
    const { ours } = await openWorld();
    await ours.run({ id: "a", ciScript: "echo $((1 + 1))", maskedValues: ["x".repeat(8 * 1024 * 1024)] });
    expect((await readAll(ours, "a")).stdout).toBe("2\n");
  });

  test("that a client takes back end, and nothing stays behind", async () => {
    const world = await openWorld();
    await world.ours.run({ id: "a", ciScript: "echo a; sleep 60" });
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController();
      const stream = world.ours.followIO({ id: "a" }, { signal: controller.signal })[Symbol.asyncIterator]();
      await stream.next();
      const next = stream.next();
      controller.abort();
      await expect(next).rejects.toThrow(ConnectError);
    }
    await answers(world);
    expect(world.log).toEqual([]);
  });
});

describe("a handler that throws", () => {
  test("is INTERNAL without its text, and the operator reads where", async () => {
    const jobs: Partial<JobTable> = {
      list() {
        throw new Error("glpat-secret-of-a-request");
      },
      drain: () => undefined,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const printed = vi.spyOn(console, "error");
    onTestFinished(() => printed.mockRestore());
    const world = await openWorld({ jobs: jobs as JobTable });
    for (const call of [() => world.ours.list({}), () => world.theirs.status({})]) {
      const error = await call().catch((cause: unknown) => ConnectError.from(cause));
      expect(error).toMatchObject({ code: Code.Internal, rawMessage: "The service failed; its log says where" });
    }
    expect(world.log).toHaveLength(2);
    expect(world.log[0]).toMatch(
      /^A call failed .*"steps\.v1\.StepRunner\/List".*"Error\\n\s+at .*robust\.long\.test\.ts/,
    );
    expect(world.log.join()).not.toContain("secret");
    expect(printed).not.toHaveBeenCalled();
  });
});

describe("a connection", () => {
  test("is one of very many that are open and say nothing", async () => {
    const world = await openWorld();
    for (let group = 0; group < 30; group++) {
      const opened = Array.from({ length: 50 }, () => openConnection(world.socket));
      // The service greets those that it has taken.
      await Promise.all(opened.map((connection) => once(connection, "data")));
    }
    await expect(clientsOf(world.socket).ours.list({})).resolves.toBeDefined();
  });

  test("with garbage ends, and only that one", async () => {
    const world = await openWorld();
    await answers(world);
    for (const bytes of [
      "GET / HTTP/1.1\r\n\r\n",
      "\0".repeat(100),
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff",
    ]) {
      const connection = openConnection(world.socket);
      connection.write(Buffer.from(bytes, "latin1"));
      connection.resume();
      await once(connection, "close");
      await answers(world);
    }
  });

  test("with any bytes after a right beginning does no harm", async () => {
    const world = await openWorld();
    const preface = Buffer.concat([
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
    ]);
    const frame = fc
      .tuple(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 0, max: 9 }),
        fc.uint8Array({ maxLength: 60 }),
      )
      .map(([type, flags, stream, body]) => Buffer.from([0, 0, body.length, type, flags, 0, 0, 0, stream, ...body]));
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 20 }), async (frames) => {
        const connection = connect(world.socket);
        connection.on("error", () => undefined).resume();
        connection.end(Buffer.concat([preface, ...frames]));
        await once(connection, "close");
      }),
      { numRuns: 60 },
    );
    await answers(world);
  });

  test("that is cut in the middle of a call does no harm", async () => {
    const world = await openWorld();
    for (let cut = 1; cut < 40; cut += 3) {
      const connection = openConnection(world.socket);
      const session = connectHttp2("http://localhost", { createConnection: () => connection });
      session.on("error", () => undefined);
      const stream = session.request({ ":method": "POST", ":path": LIST, "content-type": "application/grpc" });
      stream.on("error", () => undefined);
      stream.write(envelope(Buffer.alloc(cut)).subarray(0, cut));
      await once(connection, "connect");
      await new Promise((resolve) => setImmediate(resolve));
      connection.destroy();
    }
    await answers(world);
  });

  test("answers pings", async () => {
    const { socket } = await openWorld();
    const session = openSession(socket);
    await once(session, "connect");
    const payload = await new Promise<Buffer>((resolve, reject) => {
      session.ping(Buffer.from("12345678"), (error, _ms, bytes) => (error ? reject(error) : resolve(bytes)));
    });
    expect(payload.toString()).toBe("12345678");
  });
});

describe("a client that stops reading", () => {
  test("holds up its own stream, and the service does not fill its memory", async () => {
    const world = await openWorld();
    await world.ours.run({ id: "big", ciScript: "head -c 100000000 /dev/zero" });
    for await (const state of world.ours.follow({ id: "big" })) void state;
    const session = openSession(world.socket);
    const request = new BinaryWriter().tag(1, WireType.LengthDelimited).string("big").finish();
    const before = process.memoryUsage.rss();
    const stalled = Array.from({ length: 10 }, () => {
      const stream = session.request({
        ":method": "POST",
        ":path": "/steps.v1.StepRunner/FollowIO",
        "content-type": "application/grpc",
        te: "trailers",
      });
      stream.on("error", () => undefined);
      stream.end(envelope(request));
      return stream;
    });
    await Promise.all(stalled.map((stream) => once(stream, "response")));
    // Another connection, and another call on this one, go on.
    await answers(world);
    let bytes = 0;
    for await (const { stream } of clientsOf(world.socket).ours.followIO({ id: "big" })) bytes += stream.length;
    expect(bytes).toBe(100_000_000);
    const mine = await callRaw(session, LIST, new Uint8Array());
    expect(mine.headers["grpc-status"]).toBe("0");
    expect(process.memoryUsage.rss() - before).toBeLessThan(300_000_000);
    for (const stream of stalled) stream.close(constants.NGHTTP2_CANCEL);
  });

  test("and goes is nothing that the operator has to read of", async () => {
    const world = await openWorld();
    await world.ours.run({ id: "big", ciScript: "head -c 20000000 /dev/zero" });
    for await (const state of world.ours.follow({ id: "big" })) void state;
    for (const [type, body] of [
      ["application/connect+json", Buffer.from('{"id":"big"}')],
      ["application/grpc-web+proto", new BinaryWriter().tag(1, WireType.LengthDelimited).string("big").finish()],
    ] as const) {
      const session = openSession(world.socket);
      const stream = session.request({
        ":method": "POST",
        ":path": "/steps.v1.StepRunner/FollowIO",
        "content-type": type,
      });
      stream.on("error", () => undefined);
      stream.end(envelope(body));
      await once(stream, "response");
      // The service has filled the window, and waits for more.
      await callRaw(session, LIST, new Uint8Array());
      session.destroy();
      await once(session, "close");
    }
    await world.stop();
    expect(world.log).toEqual([]);
  });
});

describe("a stop", () => {
  test("ends the jobs and the calls that follow them, and is told to clients", async () => {
    const world = await openWorld();
    await world.ours.run({ id: "a", ciScript: "trap 'echo bye; exit 0' TERM; echo on; while :; do sleep 0.05; done" });
    const session = openSession(world.socket);
    await callRaw(session, LIST, new Uint8Array());
    const goaway = once(session, "goaway");
    const output = world.ours.followIO({ id: "a" })[Symbol.asyncIterator]();
    expect(Buffer.from((await output.next()).value?.stream ?? "").toString()).toBe("on\n");
    const rest = (async () => {
      let text = "";
      for (let item = await output.next(); item.done !== true; item = await output.next())
        text += Buffer.from(item.value.stream).toString();
      return text;
    })();
    await world.stop();
    expect(await rest).toMatch(/bye\n$/);
    expect((await goaway)[0]).toBe(constants.NGHTTP2_NO_ERROR);
    await expect(clientsOf(world.socket).ours.list({})).rejects.toThrow();
  });

  test("is not held up by a call that nobody ends", async () => {
    const world = await openWorld();
    const session = openSession(world.socket);
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => undefined).resume();
    stream.write(envelope(Buffer.from("3a00", "hex")));
    await once(stream, "response");
    await world.stop();
    expect(session.destroyed || session.closed).toBe(true);
  });
});
