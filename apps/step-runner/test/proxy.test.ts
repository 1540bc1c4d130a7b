import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { createWorld, processesWith, until, type World } from "./harness.ts";

/** Writes the log that earlier services have left. */
function writeLog(world: World, text: string): string {
  const log = join(world.stateDir, "service/serve.log");
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, text);
  return log;
}

async function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  mkdirSync(dirname(path), { recursive: true });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    onConnection(socket);
  });
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return server;
}

const start = (world: World, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  world.start(args, { env, stdio: ["pipe", "pipe", "pipe"] });

describe.each([[["proxy"]], [["steps", "proxy"]]])("%j", (name) => {
  test("carries bytes both ways and ends with its input", async () => {
    const world = createWorld();
    const path = join(world.work, "s.sock");
    await listen(path, (socket) => socket.pipe(socket));
    const proxy = start(world, [...name, "--socket", path]);
    proxy.child.stdin?.write("hello\n");
    await proxy.printed("hello\n");
    proxy.child.stdin?.end();
    expect(await proxy.ended).toEqual({ code: 0, signal: null, stdout: "hello\n", stderr: "" });
  });

  test("ends with the service, and what it had said arrives", async () => {
    const world = createWorld();
    const path = join(world.work, "s.sock");
    const text = "x".repeat(3_000_000);
    await listen(path, (socket) => socket.end(text));
    const proxy = start(world, [...name, "--socket", path]);
    const { code, stdout, stderr } = await proxy.ended;
    expect([code, stderr, stdout.length]).toEqual([0, "", text.length]);
  });

  test("without a service it says so, on standard error alone", async () => {
    const world = createWorld();
    const path = join(world.work, "s.sock");
    const { code, stdout, stderr } = await start(world, [...name, "--socket", path]).ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`No service listens on "${path}" (ENOENT)`);
  });
});

describe("proxy", () => {
  test("finds the service where services listen, the first that answers", async () => {
    const world = createWorld();
    const env = { XDG_RUNTIME_DIR: join(world.dir, "run"), TMPDIR: join(world.dir, "tmp") };
    const shared = join(env.TMPDIR, "step-runner.sock");
    await listen(shared, (socket) => socket.end("shared"));
    // A stale one before it is passed over.
    const stale = join(env.XDG_RUNTIME_DIR, "step-runner/step-runner.sock");
    const server = await listen(stale, (socket) => socket.end("own"));
    expect((await start(world, ["proxy"], env).ended).stdout).toBe("own");
    server.close();
    await once(server, "close");
    expect((await start(world, ["proxy"], env).ended).stdout).toBe("shared");
    const none = { ...env, TMPDIR: join(world.dir, "nothing") };
    expect((await start(world, ["proxy"], none).ended).stderr).toMatch(/No service listens on .* or .*/);
  });

  test("--check tells by the exit code alone whether a service listens", async () => {
    const world = createWorld();
    const path = join(world.work, "s.sock");
    const args = ["proxy", "--check", "--socket", path];
    expect(await world.run(args)).toMatchObject({ code: 1, stdout: "" });
    await listen(path, () => undefined);
    expect(await world.run(args)).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  test("--start starts one service, however many ask for it at once, and it asks for tokens", async () => {
    const world = createWorld();
    const path = join(world.work, "s.sock");
    onTestFinished(() => {
      for (const pid of processesWith(`--socket=${path}`)) process.kill(pid, "SIGKILL");
    });
    const log = writeLog(world, "x".repeat(2 * 1024 * 1024));
    const proxies = [1, 2, 3].map(() => start(world, ["proxy", "--start", "--socket", path]));
    for (const { child } of proxies)
      child.stdin?.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0", "latin1");
    // The settings of a server of HTTP/2.
    await Promise.all(proxies.map(async ({ child }) => await once(child.stdout as Readable, "data")));
    // Those that came too late say so, and end.
    await until(() => processesWith(`--socket=${path}`).length === 1);
    const services = processesWith(`--socket=${path}`);
    const job = await world.run(["proxy", "--start", "--socket", path], { input: "" });
    expect(job).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(`/proc/${services[0]}/cmdline`, "utf8")).toContain("--require-token");
    expect(readFileSync(log, "utf8")).not.toContain("xxx");
  });

  test("--start says why the service could not be started", async () => {
    const world = createWorld();
    const path = join(world.work, "s.sock");
    mkdirSync(path);
    writeLog(world, "a line of an earlier service\n");
    const { code, stdout, stderr } = await start(world, ["proxy", "--start", "--socket", path]).ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/The service that was started does not listen on ".*s\.sock": .*s\.sock/);
    expect(stderr).not.toContain("earlier service");
  });

  test("64 MiB go through both ways at once, exact, to a reader that stops for a while", async () => {
    const world = createWorld();
    const path = join(world.work, "s.sock");
    await listen(path, (socket) => socket.pipe(socket));
    const proxy = world.start(["proxy", "--socket", path], { stdio: ["pipe", "pipe", "inherit"] });
    const { stdin, stdout } = proxy.child;
    if (stdin === null || stdout === null) throw new Error("There are no pipes");
    stdout.removeAllListeners("data");
    const [sent, got] = [createHash("sha256"), createHash("sha256")];
    let received = 0;
    const total = 64 * 1024 * 1024;
    stdout.setEncoding("latin1");
    const reading = (async () => {
      for await (const chunk of stdout) {
        const bytes = Buffer.from(String(chunk), "latin1");
        got.update(bytes);
        const before = received;
        received += bytes.length;
        if (before < total / 2 && received >= total / 2) await new Promise((resolve) => setTimeout(resolve, 300));
        if (received === total) break;
      }
    })();
    for (let at = 0; at < total; at += 1024 * 1024) {
      const block = randomBytes(1024 * 1024);
      sent.update(block);
      if (!stdin.write(block)) await once(stdin, "drain");
    }
    await reading;
    expect(received).toBe(total);
    expect(got.digest("hex")).toBe(sent.digest("hex"));
    stdin.end();
    expect((await proxy.ended).code).toBe(0);
  });

  test("a reader that stops holds the service back, not the memory", async () => {
    const world = createWorld();
    const path = join(world.work, "s.sock");
    let written = 0;
    let isStalled = false;
    await listen(path, (socket) => {
      const more = (): void => {
        while (written < 100_000_000) {
          written += 65_536;
          if (!socket.write(Buffer.alloc(65_536))) {
            isStalled = true;
            return;
          }
        }
      };
      socket.on("drain", () => {
        isStalled = false;
        more();
      });
      more();
    });
    const proxy = world.start(["proxy", "--socket", path], { stdio: ["pipe", "pipe", "inherit"] });
    proxy.child.stdout?.removeAllListeners("data");
    proxy.child.stdout?.pause();
    let last = -1;
    await until(() => {
      const isSteady = isStalled && written === last;
      last = written;
      return isSteady;
    });
    expect(written).toBeLessThan(10_000_000);
    // The caller leaves, though nobody reads.
    proxy.child.stdin?.end();
    proxy.child.stdout?.destroy();
    expect((await proxy.ended).code).toBe(0);
  });

  test("ends when its caller is killed and takes nothing with it", async () => {
    const world = createWorld();
    const path = join(world.work, "s.sock");
    const left = Promise.withResolvers<void>();
    await listen(path, (socket) =>
      socket
        .once("end", () => left.resolve())
        .resume()
        .write("hi"),
    );
    const proxy = start(world, ["proxy", "--socket", path]);
    await proxy.printed("hi");
    proxy.kill("SIGKILL");
    await left.promise;
  });
});
