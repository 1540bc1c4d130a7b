import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { assertSocketFree, listenAt } from "./socket-file.ts";

function newServer(): Server {
  const server = createServer((socket) => socket.on("error", () => undefined).end("hello"));
  onTestFinished(() => void server.close());
  return server;
}

async function say(path: string): Promise<string> {
  const socket = connect(path);
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, "end");
  socket.destroy();
  return text;
}

// A process that listens and is killed leaves its socket behind.
async function leaveStale(path: string): Promise<void> {
  const script = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
  await once(spawn(process.execPath, ["-e", script, path]), "exit");
  expect(lstatSync(path).isSocket()).toBe(true);
}

describe("listenAt", () => {
  test("makes a folder and a socket for us alone", async () => {
    const path = join(tempDir(), "a", "b", "s.sock");
    const before = process.umask();
    const file = await listenAt(newServer(), path);
    expect(process.umask()).toBe(before);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await say(path)).toBe("hello");
    expect(readdirSync(join(path, ".."))).toEqual(["s.sock"]);
    file.remove();
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  test("takes the place of a service that was killed", async () => {
    const path = join(tempDir(), "s.sock");
    await leaveStale(path);
    await assertSocketFree(path);
    await listenAt(newServer(), path);
    expect(await say(path)).toBe("hello");
    expect(readdirSync(join(path, ".."))).toEqual(["s.sock"]);
  });

  test("does not take the place of one that lives", async () => {
    const path = join(tempDir(), "s.sock");
    await listenAt(newServer(), path);
    const refusal = { code: "SOCKET_IN_USE", message: expect.stringContaining("already running") as string };
    await expect(listenAt(newServer(), path)).rejects.toMatchObject(refusal);
    await expect(assertSocketFree(path)).rejects.toMatchObject(refusal);
    expect(await say(path)).toBe("hello");
    expect(readdirSync(join(path, ".."))).toEqual(["s.sock"]);
  });

  test("does not remove what became another's", async () => {
    const path = join(tempDir(), "s.sock");
    const [first, second] = [newServer(), newServer()];
    const file = await listenAt(first, path);
    first.close();
    await listenAt(second, path);
    file.remove();
    expect(await say(path)).toBe("hello");
  });

  test("of many processes that start at once over a stale socket one gets the place", async () => {
    const path = join(tempDir(), "s.sock");
    const module = join(import.meta.dirname, "socket-file.ts");
    const script = `
      import { createServer } from "node:net";
      import { listenAt } from ${JSON.stringify(module)};
      process.stdin.once("data", () => {
        const server = createServer((socket) => socket.on("error", () => {}).end(String(process.pid)));
        listenAt(server, process.argv[1]).then(() => console.log("mine"), (error) => console.log([error.code, error.cause?.code].filter(Boolean).join(" ")));
      });
      process.stdin.once("end", () => process.exit());
      console.log("ready");
    `;
    const flags = ["--conditions=steps-source", "--input-type=module", "-e", script, path];
    const starters = Array.from({ length: 6 }, () => {
      const child = spawn(process.execPath, flags, { stdio: ["pipe", "pipe", "inherit"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
    });
    for (const { lines } of starters) expect((await lines.next()).value).toBe("ready");
    await leaveStale(path);
    for (const { child } of starters) child.stdin.write("go\n");
    const answers = await Promise.all(starters.map(async ({ lines }) => String((await lines.next()).value)));
    expect(answers.toSorted()).toEqual([...Array<string>(5).fill("SOCKET_IN_USE"), "mine"]);
    const winner = starters[answers.indexOf("mine")];
    expect(await say(path)).toBe(String(winner?.child.pid));
    expect(readdirSync(join(path, ".."))).toEqual(["s.sock"]);
  });

  test("a lock that a killed starter left is taken away", async () => {
    const path = join(tempDir(), "s.sock");
    await leaveStale(path);
    await leaveStale(`${path}~`);
    await listenAt(newServer(), path);
    expect(await say(path)).toBe("hello");
    expect(existsSync(`${path}~`)).toBe(false);
  });
});

describe("refusals", () => {
  test.each([
    ["a path that is too long", (dir: string) => join(dir, "x".repeat(120)), /more than the \d+ that/],
    ["a relative path", () => "s.sock", /no absolute path/],
    ["a file", (dir: string) => (writeFileSync(join(dir, "f"), "keep"), join(dir, "f")), /no socket/],
    ["a folder below a file", (dir: string) => (writeFileSync(join(dir, "g"), ""), join(dir, "g", "s")), /Cannot make/],
  ])("%s", async (_name, pathIn, message) => {
    const dir = tempDir();
    const server = newServer();
    await expect(listenAt(server, pathIn(dir))).rejects.toMatchObject({
      code: "SOCKET_UNUSABLE",
      message: expect.stringMatching(message) as string,
    });
    expect(server.listening).toBe(false);
    if (existsSync(join(dir, "f"))) expect(statSync(join(dir, "f")).size).toBe(4);
  });

  test("a folder that others may write to, unless it is sticky like /tmp", async () => {
    const dir = join(tempDir(), "open");
    mkdirSync(dir);
    chmodSync(dir, 0o777);
    const path = join(dir, "s.sock");
    await expect(listenAt(newServer(), path)).rejects.toMatchObject({
      code: "SOCKET_UNUSABLE",
      message: expect.stringContaining("others may write to it") as string,
    });
    chmodSync(dir, 0o1777);
    await listenAt(newServer(), path);
    expect(statSync(dir).mode & 0o7777).toBe(0o1777);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});
