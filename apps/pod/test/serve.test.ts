import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { tempDir, watchProcess } from "@steps/testkit";
import { hasPostgres, startPostgres } from "@steps/testkit/postgres-server";
import { expect, test } from "vitest";

const POD = resolve(import.meta.dirname, "../../../node_modules/.bin/pod");

test.skipIf(!hasPostgres)(
  "serve ends with an error when its database goes away at any moment of its start",
  { timeout: 240_000 },
  async () => {
    const server = await startPostgres();
    let failures = 0;
    for (const bytes of [1, 100, 400, 1000, 3000, 10_000, 14_000, 15_000, 16_000, 17_000]) {
      const dir = tempDir();
      const close = await startRelay(join(dir, ".s.PGSQL.5432"), join(server.dir, ".s.PGSQL.5432"), bytes);
      const url = server.createDatabase().replace(/host=.*/, `host=${encodeURIComponent(dir)}`);
      const pod = watchProcess(
        spawn(POD, ["serve", "--port", "0", "--state-dir", join(dir, "state"), "--database", url]),
      );
      await Promise.race([pod.printed("is listening"), pod.ended]).catch(() => undefined);
      pod.child.kill("SIGTERM");
      const { code, stderr } = await pod.ended;
      if (!stderr.includes("is listening")) {
        failures++;
        expect(stderr).toContain("The database does not answer");
        expect(code).toBe(1);
      }
      close();
    }
    await server.remove();
    expect(failures).toBeGreaterThan(3);
  },
);

test.skipIf(process.platform !== "linux")(
  "serve gives memory back that was freed, in the process that was started",
  async () => {
    const program = watchProcess(spawn(POD, ["serve", "--port", "0", "--state-dir", join(tempDir(), "state")]));
    await portOf(program.child);
    expect(readFileSync(`/proc/${program.child.pid}/environ`, "latin1")).toContain("\0MALLOC_TRIM_THRESHOLD_=131072\0");
    program.child.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0 });
  },
);

test.each(["serve", "router"])("%s does not wait for a call that is under way at a second signal", async (name) => {
  const dir = tempDir();
  const config = join(dir, "router.json");
  writeFileSync(config, JSON.stringify({ default: 1, pods: [{ number: 1, url: "http://127.0.0.1:9" }] }));
  const own = name === "serve" ? ["--state-dir", join(dir, "state")] : ["--config", config];
  const program = watchProcess(spawn(POD, [name, "--port", "0", "--drain-timeout", "10m", ...own], { stdio: "pipe" }));
  const port = await portOf(program.child);
  const caller = connect(port, "127.0.0.1");
  // The body never comes.
  caller.write("POST /api/v4/jobs/request HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\nexpect: 100-continue\r\n\r\n");
  await once(caller, "data");
  program.child.kill("SIGTERM");
  let isRefused = false;
  while (!isRefused) isRefused = await isClosed(port);
  expect(program.child.exitCode).toBe(null);
  program.child.kill("SIGTERM");
  expect((await program.ended).code).toBe(0);
  caller.destroy();
});

test("router has its figures at an address of their own", async () => {
  const config = join(tempDir(), "router.json");
  writeFileSync(config, JSON.stringify({ pods: [{ number: 1, url: "http://127.0.0.1:9" }] }));
  const start = (address: string): ReturnType<typeof watchProcess> =>
    watchProcess(spawn(POD, ["router", "--config", config, "--port", "0", "--metrics-listen", address]));
  const program = start("127.0.0.1:0");
  expect(await (await fetch(`${await metricsUrlOf(program.child)}/metrics`)).text()).toContain(
    "pod_router_connections 0\n",
  );
  program.child.kill("SIGTERM");
  expect((await program.ended).code).toBe(0);
  for (const wrong of ["9131", "127.0.0.1:70000", "::1:80"]) {
    const { code, stderr } = await start(wrong).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining(`--metrics-listen is "${wrong}"`)]);
  }
});

async function portOf(child: ChildProcess): Promise<number> {
  let text = "";
  for await (const part of child.stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(part);
    const [, port] = /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(text) ?? [];
    if (port !== undefined) return Number(port);
  }
  throw new Error(text);
}

async function metricsUrlOf(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const part of child.stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(part);
    const [url] = /(?<=metrics=)http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(text);
}

/** Whether nobody listens at a port. */
async function isClosed(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isOpen = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return !isOpen;
}

/** A relay that is there until it has passed so many bytes to the server, and then is gone. */
async function startRelay(path: string, target: string, bytes: number): Promise<() => void> {
  const open = new Set<Socket>();
  let left = bytes;
  const close = (): void => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  const server = createServer((near) => {
    const far = connect(target);
    for (const socket of [near, far]) open.add(socket.on("error", close).on("close", () => near.destroy()));
    far.on("data", (chunk) => near.write(chunk));
    near.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0) far.write(chunk);
      else close();
    });
  });
  await once(server.listen(path), "listening");
  return close;
}
