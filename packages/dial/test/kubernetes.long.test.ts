import { randomBytes } from "node:crypto";
import { once } from "node:events";
import http2 from "node:http2";
import type { Duplex } from "node:stream";
import { join } from "node:path";
import { createConnection, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { isFullSize, tempDir, writeKubeconfig } from "@steps/testkit";
import type { ExecFault, KubernetesServer } from "@steps/testkit";
import { DialError, dialKubernetes } from "../src/index.ts";
import type { KubernetesTarget } from "../src/index.ts";
import { SETTINGS, errorOf, greeting, sha256, startServer } from "./kubernetes-helpers.ts";

const MIB = 1024 * 1024;
const signal = (): AbortSignal => AbortSignal.timeout(30_000);

async function dialTo(server: KubernetesServer, script: string, more: Partial<KubernetesTarget> = {}): Promise<Duplex> {
  const kubeconfig = await writeKubeconfig(server);
  return dialKubernetes({ pod: "job", kubeconfig, command: greeting(script), ...more })(signal());
}

/** Reads so many bytes after the greeting. */
async function readBytes(stream: Duplex, count: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const enough = Promise.withResolvers<void>();
  stream.on("error", enough.reject).on("end", enough.resolve);
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= count + SETTINGS.length) enough.resolve();
  });
  await enough.promise;
  return Buffer.concat(chunks).subarray(SETTINGS.length);
}

async function writeAll(stream: Duplex, bytes: Buffer, size = 100_000): Promise<void> {
  for (let at = 0; at < bytes.length; at += size) {
    if (!stream.write(bytes.subarray(at, at + size))) await once(stream, "drain");
  }
}

describe("bytes through exec", () => {
  for (const protocol of ["v5.channel.k8s.io", "v4.channel.k8s.io"]) {
    test(`passes 20 MiB there and back over ${protocol}`, async () => {
      const server = await startServer({ protocols: [protocol] });
      const stream = await dialTo(server, "cat");
      const input = randomBytes(20 * MIB);
      const [output] = await Promise.all([readBytes(stream, input.length), writeAll(stream, input)]);
      expect(sha256(output)).toBe(sha256(input));
      expect(server.sessions[0]?.protocol).toBe(protocol);
      stream.destroy();
      expect(await server.sessions[0]?.exited).toBe(0);
    });
  }

  test("takes frames in pieces of a few bytes, joined messages and empty ones", async () => {
    const preface = [[1, ""], [2, ""], [3, ""], [4, "?"], [77, "unknown"]] as const; // prettier-ignore
    const server = await startServer({ onExec: () => ({ fragmentBytes: 7, writeBytes: 1, preface }) });
    const stream = await dialTo(server, "cat");
    const input = randomBytes(50_000);
    const [output] = await Promise.all([readBytes(stream, input.length), writeAll(stream, input, 999)]);
    expect(output.equals(input)).toBe(true);
    stream.destroy();
  });

  test("closes stdin and takes what comes after (v5)", async () => {
    const stream = await dialTo(await startServer(), "wc -c; echo after");
    stream.end(Buffer.alloc(300_000));
    const output = await readBytes(stream, 1000);
    expect(output.toString().split(/\s+/u)).toEqual(["300000", "after", ""]);
  });

  test("cannot close stdin with v4, and says nothing wrong", async () => {
    const server = await startServer({ protocols: ["v4.channel.k8s.io"] });
    const stream = await dialTo(server, "head -c 5; echo; cat >/dev/null");
    stream.end("12345");
    expect((await readBytes(stream, 6)).toString()).toBe("12345\n");
    expect(stream.destroyed).toBe(false);
    stream.destroy();
    expect(await server.sessions[0]?.exited).toBe(0);
  });

  test("carries HTTP/2 for thousands of calls", async () => {
    const path = join(tempDir(), "s.sock");
    const service = http2.createServer((request, response) => void request.pipe(response.stream)).listen(path);
    await once(service, "listening");
    const relay = await startServer();
    const proxy = `const s=require("net").connect(${JSON.stringify(path)});process.stdin.pipe(s).pipe(process.stdout)`;
    const dial = dialKubernetes({
      pod: "job",
      kubeconfig: await writeKubeconfig(relay),
      command: [process.execPath, "-e", proxy],
    });
    const stream = await dial(signal());
    const session = http2.connect("http://localhost", { createConnection: () => stream });
    for (let round = 0; round < 40; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => echo(session, `${round}/${index}`)));
      expect(answers).toEqual(Array.from({ length: 50 }, (_, index) => `${round}/${index}`));
    }
    session.destroy();
    service.close();
    // With what: whether it was still writing to a reader that had gone.
    expect(await relay.sessions[0]?.exited).toEqual(expect.any(Number));
  });
});

async function echo(session: http2.ClientHttp2Session, text: string): Promise<string> {
  const request = session.request({ ":method": "POST", ":path": "/" });
  request.end(text);
  let answer = "";
  for await (const chunk of request.setEncoding("utf8")) answer += chunk as string;
  return answer;
}

describe("the end of an exec", () => {
  test("is the end of the stream only with a status of success", async () => {
    const stream = await dialTo(await startServer(), "echo done");
    expect((await readBytes(stream, 1000)).toString()).toBe("done\n");
  });

  test("is an error with exit code and stderr otherwise", async () => {
    const stream = await dialTo(await startServer(), "echo oh no >&2; sleep 0.2; exit 3");
    const error = await errorOf(readBytes(stream, 1000));
    expect(error).toMatchObject({ code: "UNREACHABLE", isPermanent: false });
    expect(error.message).toMatch(/"sh -c .*in pod "default\/job" is over: it ended with exit code 3: oh no$/su);
  });

  test("is a loss when the connection closes cleanly without a status", async () => {
    const stream = await dialTo(await startServer({ onExec: () => ({ hasNoStatus: true }) }), "sleep 0.2");
    expect(await errorOf(readBytes(stream, 1000))).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("closed without a status") as string,
    });
  });

  test("waits for a delayed status, and not for ever for the connection to close", async () => {
    const delayed = await dialTo(await startServer({ onExec: () => ({ delayStatusMs: 300 }) }), "echo x");
    expect((await readBytes(delayed, 1000)).toString()).toBe("x\n");
    const kept = await dialTo(await startServer({ onExec: () => ({ staysOpen: true }) }), "echo y");
    expect((await readBytes(kept, 1000)).toString()).toBe("y\n");
  });

  test("comes with any status that the server sends", async () => {
    const preface = [[1, SETTINGS.toString("latin1")], [3, '{"status":"Fail'], [3, 'ure","message":"node is gone"}']] as const; // prettier-ignore
    const fault: ExecFault = { isSilent: true, preface };
    const stream = await dialTo(await startServer({ onExec: () => fault }), "");
    const error = await errorOf(readBytes(stream, 1000));
    expect(error.message).toContain("node is gone");
  });

  test("comes when the status is none", async () => {
    const preface = [[1, SETTINGS.toString("latin1")], [3, "x".repeat(70_000)]] as const; // prettier-ignore
    const stream = await dialTo(await startServer({ onExec: () => ({ isSilent: true, preface }) }), "");
    expect(await errorOf(readBytes(stream, 1000))).toMatchObject({ code: "PROTOCOL" });
  });

  test("comes when the server does not answer pings any more", async () => {
    const server = await startServer({ onExec: () => ({ hasNoPong: true }) });
    const stream = await dialTo(server, "cat", { pingIntervalMs: 50 });
    const error = await errorOf(readBytes(stream, 1000));
    expect(error).toMatchObject({ code: "UNREACHABLE", message: expect.stringContaining("does not answer") as string });
    expect(await server.sessions[0]?.exited).toBe(0);
  });

  test("does not come while nobody reads, however many pings could not be heard", async () => {
    const server = await startServer();
    const stream = await dialTo(server, "head -c 3000000 /dev/zero", { pingIntervalMs: 20 });
    await once(stream, "readable");
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect((await readBytes(stream, 3_000_000)).length).toBe(3_000_000);
  });
});

describe("cuts", () => {
  test("lose nothing but what was on its way: a prefix arrives, then an error", async () => {
    const server = await startServer({ onExec: (count) => ({ dropAfterBytes: cutAt(count) }) });
    for (let count = 0; count < 20; count += 1) {
      const script = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done";
      const dialing = dialTo(server, script);
      const error = await errorOf(dialing.then((stream) => readPrefix(stream)));
      expect(error).toBeInstanceOf(DialError);
      expect(error).toMatchObject({ code: "UNREACHABLE", isPermanent: false });
    }
    expect(server.sessions).toHaveLength(20);
    for (const session of server.sessions) await session.closed;
  });

  test("are told to a writer", async () => {
    const server = await startServer({ onExec: () => ({ dropAfterReceivedBytes: 1_000_000 }) });
    const stream = await dialTo(server, "cat >/dev/null");
    stream.resume();
    const error = await errorOf(
      Promise.race([
        writeAll(stream, Buffer.alloc(20 * MIB)),
        once(stream, "close").then(() => Promise.reject(stream.errored)),
      ]),
    );
    expect(error).toMatchObject({ code: "UNREACHABLE" });
  });

  test("end what was begun on the other side", async () => {
    const server = await startServer();
    const stream = await dialTo(server, "cat");
    const failed = errorOf(readBytes(stream, 10));
    server.sessions[0]?.drop();
    expect(await failed).toMatchObject({ code: "UNREACHABLE" });
    expect(await server.sessions[0]?.exited).toBe(0);
  });
});

/** Deterministic, and spread: in the greeting, in a frame's head, in the middle. */
function cutAt(count: number): number {
  return (count * count * 257) % 100_003;
}

async function readPrefix(stream: Duplex): Promise<void> {
  let text = "";
  try {
    for await (const chunk of stream) text += (chunk as Buffer).toString("latin1");
  } finally {
    const lines = text.slice(SETTINGS.length).split("\n").slice(0, -1);
    lines.forEach((line, index) => expect(line).toBe(`line ${index}`));
  }
}

describe("back-pressure", () => {
  test("stops the server while nobody reads", async () => {
    const server = await startServer();
    const bytes = isFullSize ? 200_000_000 : 50_000_000;
    const stream = await dialTo(server, `head -c ${bytes} /dev/zero`);
    await once(stream, "readable");
    const sent = await untilStill(() => server.sessions[0]?.sentBytes() ?? 0);
    expect(sent).toBeLessThan(20 * MIB);
    expect(stream.readableLength).toBeLessThan(MIB);
    let size = 0;
    for await (const chunk of stream) size += (chunk as Buffer).length;
    expect(size).toBe(bytes + SETTINGS.length);
  });

  test("stops the writer while the server does not read", async () => {
    const server = await startServer({ onExec: () => ({ isNotReading: true }) });
    const stream = await dialTo(server, "cat >/dev/null");
    let written = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const pump = (): void => {
      while (!stream.destroyed && stream.write(chunk)) written += chunk.length;
      written += chunk.length;
    };
    stream.on("drain", pump);
    pump();
    const total = await untilStill(() => written);
    expect(total).toBeLessThan(20 * MIB);
    expect(stream.writableLength).toBeLessThan(MIB);
    stream.destroy();
  });

  test("keeps little of a flood on stderr", async () => {
    const stream = await dialTo(
      await startServer(),
      "echo first >&2; head -c 50000000 /dev/zero | tr '\\0' e >&2; echo last >&2; exit 1",
    );
    const error = await errorOf(readBytes(stream, 1000));
    expect(error.message.length).toBeLessThan(10_000);
    expect(error.message).toMatch(/first\ne+.*bytes left out.*e+last$/su);
  });
});

/** Waits until a figure does not change for a while. */
async function untilStill(figure: () => number): Promise<number> {
  for (let last = -1; ;) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (figure() === last && last > 0) return last;
    last = figure();
  }
}

describe("what is left", () => {
  test("is nothing after the stream is destroyed, or the dial aborted", async () => {
    const server = await startServer();
    const dial = dialKubernetes({ pod: "job", kubeconfig: await writeKubeconfig(server), command: greeting("cat") });
    const silent = dialKubernetes({ pod: "job", kubeconfig: await writeKubeconfig(server), command: ["cat"] });
    const before = process.getActiveResourcesInfo().filter(isOurs).length;
    for (let count = 0; count < 5; count += 1) (await dial(signal())).destroy();
    for (let count = 0; count < 5; count += 1) {
      const controller = new AbortController();
      const dialing = errorOf(silent(controller.signal));
      while (server.sessions.length < 6 + count) await new Promise((resolve) => setTimeout(resolve, 10));
      controller.abort(new Error("enough"));
      expect(await dialing).toMatchObject({ message: "enough" });
    }
    for (const session of server.sessions) expect(await session.exited).toBe(0);
    for (const session of server.sessions) await session.closed;
    await expect.poll(() => process.getActiveResourcesInfo().filter(isOurs).length).toBeLessThanOrEqual(before);
  });

  test("rejects at once with the reason of a signal that is aborted already", async () => {
    const server = await startServer();
    const dial = dialKubernetes({ pod: "job", kubeconfig: await writeKubeconfig(server) });
    await expect(dial(AbortSignal.abort(new Error("no")))).rejects.toThrow("no");
    expect(server.requests).toHaveLength(0);
  });
});

function isOurs(name: string): boolean {
  return name === "TCPSocketWrap" || name === "PipeWrap" || name === "ProcessWrap";
}

describe("a server that never answers", () => {
  test("is given up after the time-out", async () => {
    const server = await startServer({ onRequest: () => "hang" });
    const error = await errorOf(dialTo(server, "cat", { timeoutMs: 200 }));
    expect(error).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("No answer within 200 ms") as string,
    });
  });

  test("accepts connections and says nothing", async () => {
    const sockets: Array<{ destroy(): void }> = [];
    const deaf = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
    await once(deaf, "listening");
    const { port } = deaf.address() as { port: number };
    const probe = createConnection(port, "127.0.0.1").on("error", () => undefined);
    await once(probe, "connect");
    probe.destroy();
    const kubeconfig = await writeKubeconfig({ url: `http://127.0.0.1:${port}` });
    const error = await errorOf(dialKubernetes({ pod: "job", kubeconfig, timeoutMs: 200 })(signal()));
    expect(error).toMatchObject({ code: "UNREACHABLE" });
    sockets.forEach((socket) => socket.destroy());
    deaf.close();
  });
});
