import { once } from "node:events";
import { chmod, chown, mkdir, rename, writeFile } from "node:fs/promises";
import net from "node:net";
import { dirname, join } from "node:path";
import { socketPlaces } from "@steps/model/socket-path";
import { tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DialError } from "./dial-error.ts";
import type { Dial } from "./dial.ts";
import { dialUnix } from "./unix.ts";

const isRoot = process.getuid?.() === 0;

async function serve(path: string, greeting = "hello"): Promise<net.Server> {
  await mkdir(dirname(path), { recursive: true });
  const server = net.createServer((socket) => socket.end(greeting));
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return server;
}

/** A socket file that nobody listens at, as a killed service leaves it. */
async function stale(path: string): Promise<void> {
  const server = await serve(`${path}.live`);
  await rename(`${path}.live`, path);
  server.close();
  await once(server, "close");
}

async function greeting(dial: Dial): Promise<string> {
  const stream = await dial(new AbortController().signal);
  expect(stream).toBeInstanceOf(net.Socket);
  return Buffer.concat(await stream.toArray()).toString();
}

async function failure(dial: Dial): Promise<DialError> {
  return await dial(new AbortController().signal).then(
    () => expect.unreachable("It has connected"),
    (error: DialError) => error,
  );
}

describe("dialUnix with a path", () => {
  test("connects", async () => {
    const path = join(tempDir(), "s.sock");
    await serve(path);
    expect(await greeting(dialUnix({ path }))).toBe("hello");
  });

  test("says what is the matter", async () => {
    const folder = tempDir();
    const path = join(folder, "s.sock");
    expect(await failure(dialUnix({ path }))).toMatchObject({
      code: "UNREACHABLE",
      isPermanent: false,
      message: `The socket '${path}' does not exist`,
      hint: expect.stringContaining("step-runner serve") as string,
    });
    await stale(path);
    expect((await failure(dialUnix({ path }))).message).toBe(`The socket '${path}' is stale, nobody listens there`);
    await writeFile(join(folder, "file"), "");
    expect(await failure(dialUnix({ path: join(folder, "file", "s") }))).toMatchObject({ code: "ADDRESS_INVALID" });
    const long = join(folder, "x".repeat(120));
    expect(await failure(dialUnix({ path: long }))).toMatchObject({ code: "ADDRESS_INVALID", isPermanent: true });
  });

  test("a socket of somebody else is denied", async () => {
    const folder = tempDir();
    const path = join(folder, "s.sock");
    await serve(path);
    await chmod(folder, 0o755);
    await chmod(path, 0o000);
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(await failure(dialUnix({ path }))).toMatchObject({ code: "DENIED", isPermanent: true });
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  test("an aborted signal is its own reason", async () => {
    const path = join(tempDir(), "s.sock");
    await serve(path);
    const early = dialUnix({ path })(AbortSignal.abort(new Error("too late")));
    await expect(early).rejects.toThrow("too late");
    const controller = new AbortController();
    const during = dialUnix({ path })(controller.signal);
    controller.abort(new Error("changed my mind"));
    await expect(during).rejects.toThrow("changed my mind");
  });
});

describe("dialUnix with an environment", () => {
  test("takes the first place that accepts, over stale sockets and missing folders", async () => {
    const env = { HOME: tempDir(), TMPDIR: tempDir(), STEP_RUNNER_SOCKET: join(tempDir(), "given.sock") };
    const [given, own, shared] = socketPlaces(env).all as [string, string, string];
    await stale(given);
    await serve(shared, "shared");
    expect(await greeting(dialUnix({ env }))).toBe("shared");
    await serve(own, "own");
    expect(await greeting(dialUnix({ env }))).toBe("own");
  });

  test("names all the places where nothing is", async () => {
    const env = { HOME: tempDir(), TMPDIR: tempDir() };
    const error = await failure(dialUnix({ env }));
    expect(error.code).toBe("UNREACHABLE");
    for (const place of socketPlaces(env).all) expect(error.message).toContain(`'${place}' does not exist`);
  });

  test.runIf(isRoot)("does not trust a socket that another user has put there, unless it is named", async () => {
    const env = { HOME: tempDir(), TMPDIR: tempDir() };
    const shared = join(env.TMPDIR, "step-runner.sock");
    await serve(shared, "trap");
    await chown(shared, 12_345, 12_345);
    const error = await failure(dialUnix({ env }));
    expect(error).toMatchObject({
      code: "DENIED",
      message: `The socket '${shared}' belongs to another user (uid 12345)`,
    });
    expect(await greeting(dialUnix({ env: { ...env, STEP_RUNNER_SOCKET: shared } }))).toBe("trap");
  });
});
