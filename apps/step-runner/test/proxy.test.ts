import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { createWorld, until, type World } from "./harness.ts";

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
