import http2 from "node:http2";
import net from "node:net";
import { Duplex, duplexPair, PassThrough } from "node:stream";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { DialError } from "./dial-error.ts";
import { expectHttp2, untilHttp2 } from "./expect-http2.ts";

const SETTINGS = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]);

function explained(stream: Duplex): Duplex {
  return expectHttp2(stream, (text) => new DialError("NO_SERVICE", `Got '${text}'`));
}

async function failure(stream: Duplex): Promise<DialError> {
  stream.resume();
  const [error] = (await once(stream, "error")) as [DialError];
  return error;
}

describe("expectHttp2", () => {
  test("passes a settings frame that arrives byte by byte, and what follows", async () => {
    const [near, far] = duplexPair();
    const stream = explained(near);
    const received: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => received.push(chunk));
    for (const byte of SETTINGS) far.write(Buffer.of(byte));
    far.end("tail");
    await once(stream, "end");
    expect(Buffer.concat(received)).toEqual(Buffer.concat([SETTINGS, Buffer.from("tail")]));
  });

  test("gives the text to the one who explains, and destroys both ends with what he says", async () => {
    const [near, far] = duplexPair();
    const stream = explained(near);
    far.write("OCI runtime exec failed: ");
    far.end("no such file");
    const error = await failure(stream);
    expect(error.message).toBe("Got 'OCI runtime exec failed: no such file'");
    expect([stream.destroyed, near.destroyed]).toEqual([true, true]);
  });

  test("a talker without an end is cut at 4 KiB", async () => {
    const inner = new PassThrough();
    const stream = explained(inner);
    inner.write("a".repeat(3000));
    inner.write("b".repeat(3000));
    expect((await failure(stream)).message).toBe(`Got '${"a".repeat(3000)}${"b".repeat(1096)}'`);
  });

  test("a talker that falls silent is cut after a while", async () => {
    const inner = new PassThrough();
    const stream = explained(inner);
    inner.write("login: ");
    expect((await failure(stream)).message).toBe("Got 'login: '");
    expect(inner.destroyed).toBe(true);
  });

  test("a stream that ends, is destroyed, or was closed before, without a byte", async () => {
    const ended = new PassThrough();
    ended.end();
    expect((await failure(explained(ended))).message).toBe("Got ''");
    const destroyed = new PassThrough();
    const stream = explained(destroyed);
    destroyed.destroy();
    expect((await failure(stream)).message).toBe("Got ''");
    expect((await failure(explained(destroyed))).message).toBe("Got ''");
  });

  test("a failure before the first frame is explained, but an explanation is kept", async () => {
    const reset = new PassThrough();
    const first = explained(reset);
    reset.destroy(new Error("read ECONNRESET"));
    expect((await failure(first)).message).toBe("Got 'read ECONNRESET'");
    const denied = new PassThrough();
    const second = explained(denied);
    denied.destroy(new DialError("DENIED", "No"));
    expect(await failure(second)).toMatchObject({ code: "DENIED", message: "No" });
  });

  test("an explanation that fails is the error itself", async () => {
    const inner = new PassThrough();
    const stream = expectHttp2(inner, () => Promise.reject(new Error("inspect failed")));
    inner.end("x");
    expect((await failure(stream)).message).toBe("inspect failed");
  });

  test("destroying the result destroys the stream, and a loss of the stream ends the result", async () => {
    const [near] = duplexPair();
    const stream = explained(near);
    stream.destroy();
    await once(stream, "close");
    expect(near.destroyed).toBe(true);

    const [other, far] = duplexPair();
    const lost = explained(other);
    far.write(SETTINGS);
    await once(lost, "readable");
    other.destroy(new Error("cut"));
    expect((await failure(lost)).message).toBe("cut");
  });

  test("does not read ahead of a slow reader, nor write ahead of a slow peer", async () => {
    let produced = 0;
    const inner = new Duplex({
      read() {
        const chunk = produced === 0 ? SETTINGS : Buffer.alloc(65_536);
        produced += chunk.length;
        this.push(chunk);
      },
      write() {
        // Never done: a peer that stopped reading.
      },
    });
    const stream = explained(inner);
    await once(stream, "readable");
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(produced).toBeLessThan(10 * 65_536);
    let written = 0;
    while (stream.write(Buffer.alloc(65_536)) && written < 100) written += 1;
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(stream.writableNeedDrain).toBe(true);
    stream.destroy();
  });

  test("carries node:http2 over a socket", async () => {
    const server = http2.createServer((request, response) => request.pipe(response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = net.connect((server.address() as net.AddressInfo).port, "127.0.0.1");
    const session = http2.connect("http://localhost", { createConnection: () => explained(socket) });
    const body = Buffer.alloc(1_000_000, "x");
    const request = session.request({ ":method": "POST" });
    request.end(body);
    const answer: Buffer[] = [];
    for await (const chunk of request) answer.push(chunk as Buffer);
    expect(Buffer.concat(answer).equals(body)).toBe(true);
    session.close();
    await once(session, "close");
    server.close();
    await once(server, "close");
  });
});

describe("untilHttp2", () => {
  const signal = new AbortController().signal;
  const explain = (text: string): DialError => new DialError("NO_SERVICE", `Got '${text}'`);

  test("gives back the stream itself, as if nobody had looked", async () => {
    const [near, far] = duplexPair();
    const listeners = (): number[] =>
      ["data", "end", "error", "close", "drain", "readable"].map((event) => near.listenerCount(event));
    const before = listeners();
    far.write(SETTINGS.subarray(0, 4));
    const waiting = untilHttp2(near, explain, { signal });
    far.write(SETTINGS.subarray(4));
    expect(await waiting).toBe(near);
    expect(listeners()).toEqual(before);
    far.end("tail");
    const received: Buffer[] = [];
    near.on("data", (chunk: Buffer) => received.push(chunk));
    await once(near, "end");
    expect(Buffer.concat(received)).toEqual(Buffer.concat([SETTINGS, Buffer.from("tail")]));
  });

  test("keeps a stream that has ended right after the first frame readable", async () => {
    const inner = new PassThrough();
    inner.end(Buffer.concat([SETTINGS, Buffer.from("GOAWAY")]));
    const stream = await untilHttp2(inner, explain, { signal });
    expect(Buffer.concat(await stream.toArray())).toEqual(Buffer.concat([SETTINGS, Buffer.from("GOAWAY")]));
  });

  test("rejects with the explanation", async () => {
    const [near, far] = duplexPair();
    far.end("usage: proxy");
    await expect(untilHttp2(near, explain, { signal })).rejects.toThrow("Got 'usage: proxy'");
    expect(near.destroyed).toBe(true);
  });

  test("does not wait for a server that waits for the client, and looks later", async () => {
    const [near, far] = duplexPair();
    const stream = await untilHttp2(near, explain, { signal, silenceMs: 10 });
    far.end("usage: proxy");
    expect((await failure(stream)).message).toBe("Got 'usage: proxy'");
  });

  test("a beginning that stays one is not taken for a silence", async () => {
    const [near, far] = duplexPair();
    far.write(SETTINGS.subarray(0, 3));
    const waiting = untilHttp2(near, explain, { signal, silenceMs: 10 });
    await expect(waiting).rejects.toThrow("Got ");
  });

  test("an aborted signal destroys the stream, before, while waiting and while explaining", async () => {
    const before = new PassThrough();
    await expect(untilHttp2(before, explain, { signal: AbortSignal.abort(new Error("a")) })).rejects.toThrow("a");
    const during = new AbortController();
    const silent = new PassThrough();
    const waiting = untilHttp2(silent, explain, { signal: during.signal });
    during.abort(new Error("b"));
    await expect(waiting).rejects.toThrow("b");
    const last = new AbortController();
    const [near, far] = duplexPair();
    far.end();
    const never = untilHttp2(near, () => (last.abort(new Error("c")), new Promise(() => undefined)), {
      signal: last.signal,
    });
    await expect(never).rejects.toThrow("c");
    expect([before.destroyed, silent.destroyed, near.destroyed]).toEqual([true, true, true]);
  });
});
