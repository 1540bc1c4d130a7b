import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:http2";
import * as http2 from "node:http2";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { hasProgram, type SshServer, type SshServerOptions, startSshServer, tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSshDialer, type SshDialer, type SshOptions } from "../src/index.ts";
import {
  digestOf,
  echo,
  type FakeService,
  installProxy,
  installScript,
  readBytes,
  sequence,
  SETTINGS,
  sha256,
  startService,
} from "./ssh-service.ts";

const never = new AbortController().signal;

async function sshd(options?: SshServerOptions): Promise<SshServer> {
  const server = await startSshServer(options);
  onTestFinished(() => server.stop());
  return server;
}

async function service(path: string, onSocket = echo): Promise<FakeService> {
  const started = await startService(path, onSocket);
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

function dialerTo(server: SshServer, options: Partial<SshOptions> = {}): SshDialer {
  const { host, port, user, identityFile, knownHostsFile } = server;
  const dialer = createSshDialer({
    host,
    port,
    user,
    identityFiles: [identityFile],
    knownHostsFiles: [knownHostsFile],
    agent: false,
    ...options,
  });
  onTestFinished(() => dialer[Symbol.asyncDispose]());
  return dialer;
}

async function expectEcho(stream: Duplex): Promise<void> {
  expect(await readBytes(stream, SETTINGS.length)).toEqual(SETTINGS);
  stream.write("hello");
  expect((await readBytes(stream, 5)).toString()).toBe("hello");
}

/** Processes whose command line has this text. */
function processesOf(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}

async function untilNone(text: string): Promise<void> {
  while (processesOf(text).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe.skipIf(!hasProgram("sshd", "/usr/sbin"))("createSshDialer()", () => {
  test("dials the socket that is named, many times over one connection", async () => {
    const server = await sshd();
    const { path, untilOpen } = await service(join(server.dir, "s.sock"));
    const dialer = dialerTo(server, { socket: path });
    const streams = await Promise.all(Array.from({ length: 15 }, () => dialer.dial(never)));
    for (const stream of streams) await expectEcho(stream);
    expect(server.connections()).toBe(1);
    for (const stream of streams) stream.destroy();
    await untilOpen(0);
    await expectEcho(await dialer.dial(never));
    expect(server.connections()).toBe(1);
    await dialer[Symbol.asyncDispose]();
    await untilOpen(0);
  });

  test("carries HTTP/2", async () => {
    const server = await sshd();
    const path = join(server.dir, "h2.sock");
    const h2 = http2.createServer((request, response) => void request.pipe(response)).listen(path);
    await once(h2, "listening");
    onTestFinished(() => void h2.close());
    const stream = await dialerTo(server, { socket: path }).dial(never);
    const session = connect("http://localhost", { createConnection: () => stream });
    const body = sequence(3_000_000);
    const request = session.request({ ":method": "POST", ":path": "/" });
    request.end(body);
    expect(await digestOf(request)).toEqual({ bytes: body.length, sha256: sha256(body) });
    session.close();
    await once(session, "close");
  });

  test("finds the service by the environment there", async () => {
    const runtime = tempDir();
    const server = await sshd({ config: [`SetEnv XDG_RUNTIME_DIR=${runtime}`] });
    await service(join(runtime, "step-runner/step-runner.sock"));
    await expectEcho(await dialerTo(server).dial(never));
  });

  test("carries 20 MB each way, byte for byte, and waits for a slow reader", async () => {
    // Keys are exchanged anew many times meanwhile.
    const server = await sshd({ config: ["RekeyLimit 2M"] });
    const body = sequence(20_000_000);
    let sent = 0;
    const { path } = await service(join(server.dir, "s.sock"), (socket) => {
      const next = (): void => {
        while (sent < body.length && !socket.destroyed) {
          const chunk = body.subarray(sent, sent + 65_536);
          sent += chunk.length;
          if (!socket.write(chunk)) return void socket.once("drain", next);
        }
        socket.pipe(socket);
      };
      next();
    });
    const stream = await dialerTo(server, { socket: path }).dial(never);
    await readBytes(stream, SETTINGS.length);
    // Nothing is read: the sender has to stop long before its end.
    let before = -1;
    while (sent !== before) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(sent).toBeLessThan(12_000_000);
    expect(await digestOf(stream, body.length)).toEqual({ bytes: body.length, sha256: sha256(body) });
    expect(sent).toBe(body.length);
    const echoed = digestOf(stream);
    stream.end(body);
    expect(await echoed).toEqual({ bytes: body.length, sha256: sha256(body) });
  });

  test("makes the writer wait for a peer that does not read", async () => {
    const server = await sshd();
    const { path, sockets } = await service(join(server.dir, "s.sock"), (socket) => void socket.pause());
    const stream = await dialerTo(server, { socket: path }).dial(never);
    const chunk = Buffer.alloc(65_536, 1);
    let written = 0;
    let isStuck = false;
    while (!isStuck && written < 64_000_000) {
      written += chunk.length;
      if (stream.write(chunk)) continue;
      const drained = once(stream, "drain").then(() => false);
      isStuck = await Promise.race([drained, new Promise<true>((resolve) => setTimeout(resolve, 1000, true))]);
    }
    expect(written).toBeLessThan(12_000_000);
    const [socket] = sockets;
    stream.end();
    expect((await digestOf(socket as NonNullable<typeof socket>)).bytes).toBe(written);
  });

  test("starts a proxy where sockets are not forwarded, which ends with the stream", async () => {
    const bin = tempDir();
    const server = await sshd({
      config: ["AllowStreamLocalForwarding no", `SetEnv PATH=${bin}:/usr/bin:/bin`],
    });
    const { path, untilOpen } = await service(join(server.dir, "s.sock"));
    installProxy(bin, "gitlab-runner", path);
    const dialer = dialerTo(server);
    const stream = await dialer.dial(never);
    await expectEcho(stream);
    expect(processesOf(bin)).not.toHaveLength(0);
    stream.destroy();
    await untilOpen(0);
    await untilNone(bin);
    const again = await dialer.dial(never);
    const body = sequence(20_000_000);
    await readBytes(again, SETTINGS.length);
    const echoed = digestOf(again, body.length);
    again.write(body);
    expect(await echoed).toEqual({ bytes: body.length, sha256: sha256(body) });
    // The proxy goes also when the whole connection does.
    const error = once(again, "error");
    server.cut();
    expect((await error)[0]).toMatchObject({ code: "UNREACHABLE" });
    await untilNone(bin);
  });

  test("runs the proxy that is named, whatever stands in its words", async () => {
    const bin = join(tempDir(), "it's a $HOME `dir`");
    const server = await sshd();
    const { path } = await service(join(server.dir, "s.sock"));
    installProxy(bin, "my proxy", path);
    await expectEcho(await dialerTo(server, { proxyCommand: [join(bin, "my proxy"), "a'b\"c"] }).dial(never));
  });

  test("goes back to searching when what worked works no more", async () => {
    const runtime = tempDir();
    const bin = tempDir();
    const server = await sshd({ config: [`SetEnv XDG_RUNTIME_DIR=${runtime} PATH=${bin}:/usr/bin:/bin`] });
    const first = await service(join(runtime, "step-runner/step-runner.sock"));
    const dialer = dialerTo(server);
    await expectEcho(await dialer.dial(never));
    await first[Symbol.asyncDispose]();
    const second = await service(join(server.dir, "other.sock"));
    installProxy(bin, "step-runner", second.path);
    await expectEcho(await dialer.dial(never));
    expect(second.sockets.size).toBe(1);
  });

  test("says what was tried where there is no service", async () => {
    const bin = tempDir();
    const server = await sshd({ config: [`SetEnv PATH=${bin}:/usr/bin:/bin XDG_RUNTIME_DIR=${bin}`] });
    await expect(dialerTo(server).dial(never)).rejects.toMatchObject({
      code: "NO_SERVICE",
      message: expect.stringMatching(/nobody listens at '.*exit status 127.*none of step-runner/s) as string,
    });
    installScript(bin, { name: "step-runner", text: 'echo "the service is out for lunch" >&2; exit 3' });
    await expect(dialerTo(server, { socket: "/nowhere/s.sock" }).dial(never)).rejects.toMatchObject({
      code: "NO_SERVICE",
      message: expect.stringMatching(/'\/nowhere\/s.sock'.*exit status 3.*out for lunch/s) as string,
    });
    installScript(bin, { name: "step-runner", text: 'echo "Welcome!"; cat' });
    await expect(dialerTo(server, { proxyCommand: ["step-runner"] }).dial(never)).rejects.toMatchObject({
      message: expect.stringContaining("does not speak HTTP/2: Welcome!") as string,
    });
    await untilNone(bin);
  });

  test("breaks the streams of a connection that is lost, and makes a new one", async () => {
    const server = await sshd();
    const { path, untilOpen } = await service(join(server.dir, "s.sock"));
    const dialer = dialerTo(server, { socket: path });
    for (let round = 0; round < 3; round += 1) {
      const stream = await dialer.dial(never);
      await expectEcho(stream);
      const error = once(stream, "error");
      expect(server.cut()).toBe(1);
      expect((await error)[0]).toMatchObject({ code: "UNREACHABLE" });
      await untilOpen(0);
    }
  });

  test("notices a host that answers no more", async () => {
    const server = await sshd();
    const { path } = await service(join(server.dir, "s.sock"));
    const dialer = dialerTo(server, { socket: path, keepaliveMs: 500 });
    const stream = await dialer.dial(never);
    const error = once(stream, "error");
    server.cut("SIGSTOP");
    expect((await error)[0]).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("Keepalive") as string,
    });
    await expectEcho(await dialer.dial(never));
  });

  test("opens another connection where one has no room for more commands, and closes it when they have ended", async () => {
    const bin = tempDir();
    const server = await sshd({
      config: ["MaxSessions 2", "AllowStreamLocalForwarding no", `SetEnv PATH=${bin}:/usr/bin:/bin`],
    });
    const { path } = await service(join(server.dir, "s.sock"));
    installProxy(bin, "step-runner", path);
    const dialer = dialerTo(server);
    const streams = await Promise.all(Array.from({ length: 5 }, () => dialer.dial(never)));
    for (const stream of streams) await expectEcho(stream);
    expect(server.connections()).toBeGreaterThanOrEqual(3);
    for (const stream of streams) stream.destroy();
    while (server.connections() > 1) await new Promise((resolve) => setTimeout(resolve, 20));
    await expectEcho(await dialer.dial(never));
  });

  test("says so where no commands and no sockets are allowed", async () => {
    const server = await sshd({ config: ["MaxSessions 0", "AllowStreamLocalForwarding no"] });
    await expect(dialerTo(server).dial(never)).rejects.toMatchObject({
      code: "NO_SERVICE",
      message: expect.stringContaining("it starts no commands") as string,
    });
  });

  test("gives up when it is told to, at any time", async () => {
    const bin = tempDir();
    const server = await sshd({ config: [`SetEnv PATH=${bin}:/usr/bin:/bin`] });
    installScript(bin, { name: "silent", text: "sleep 1000" });
    const aborted = AbortSignal.abort(new Error("never mind"));
    const dialer = dialerTo(server, { proxyCommand: [join(bin, "silent")] });
    await expect(dialer.dial(aborted)).rejects.toThrow("never mind");
    // While it connects: nobody is left who waits for the connection.
    const early = new AbortController();
    const dialling = dialer.dial(early.signal);
    early.abort(new Error("too late"));
    await expect(dialling).rejects.toThrow("too late");
    // While the proxy says nothing.
    const late = new AbortController();
    const waiting = dialer.dial(late.signal);
    while (processesOf(bin).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    late.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await dialer[Symbol.asyncDispose]();
    await expect(dialer.dial(never)).rejects.toMatchObject({ code: "ADDRESS_INVALID" });
    while (server.connections() > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
