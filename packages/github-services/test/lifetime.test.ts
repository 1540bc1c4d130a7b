import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { Socket } from "node:net";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { isServicesError, startServices } from "../src/index.ts";
import { openServices } from "./fixtures.ts";
import type { Wire } from "./wire.ts";
import { openWire } from "./wire.ts";

const WORKER = join(import.meta.dirname, "services-worker.ts");

/** Services in a process of their own, killed when the test ends. */
async function startWorker(cacheDir: string): Promise<{ readonly wire: Wire; readonly kill: () => Promise<void> }> {
  const args = ["--conditions=steps-source", "--no-warnings", WORKER, cacheDir, join(tempDir(), "artifacts")];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const env = JSON.parse(line.toString()) as Record<string, string>;
  const unused = async (): Promise<void> => undefined;
  const wire = openWire({ env, artifacts: () => [], close: unused, [Symbol.asyncDispose]: unused });
  return {
    wire,
    kill: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** How many files of this name this process holds open. */
function openFiles(name: string): number {
  const links = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The one that listed them.
      return "";
    }
  });
  return links.filter((path) => path.endsWith(`/${name}`)).length;
}

function workIn(cacheDir: string): string[] {
  return existsSync(join(cacheDir, "work")) ? readdirSync(join(cacheDir, "work")) : [];
}

test("close() ends what is under way and leaves nothing open or behind", async () => {
  const dir = tempDir();
  const [cacheDir, artifactDir] = [join(dir, "cache"), join(dir, "artifacts")];
  const before = process.getActiveResourcesInfo().filter((name) => /TCP|Timeout|FSReq/.test(name));
  const services = await startServices({ cacheDir, artifactDir, runId: "1", jobId: "1" });
  const wire = openWire(services);
  await wire.save("kept", "content");
  const { json } = await wire.call("Cache", "CreateCacheEntry", { key: "k", version: "v" });
  const url = new URL(String(json["signed_upload_url"]));
  const socket = connect(Number(url.port), url.hostname);
  socket.on("error", () => undefined);
  socket.write(
    `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
  );
  await once(socket, "data");
  const message = { name: "a", workflow_run_backend_id: "1" };
  await wire.call("Artifact", "CreateArtifact", message);
  expect(readdirSync(artifactDir)).toEqual([".steps-uploads"]);

  const ended = once(socket, "close");
  await Promise.all([services.close(), services.close(), ended]);
  await services[Symbol.asyncDispose]();
  expect([workIn(cacheDir), readdirSync(artifactDir)]).toEqual([[], []]);
  await expect(wire.send("GET", "none")).rejects.toThrow("fetch failed");
  await expect
    .poll(() => process.getActiveResourcesInfo().filter((name) => /TCP|Timeout|FSReq/.test(name)).length)
    .toBeLessThanOrEqual(before.length);
  expect(await openWire(await openServices({ cacheDir })).find(["kept"])).toBe("kept");
});

test("a reader that stops is let go, and does not hold up close()", async () => {
  const services = await openServices({ limits: { idleMs: 2000 } });
  const wire = openWire(services);
  await wire.save("large", Buffer.alloc(40 * 1024 ** 2));
  const { json } = await wire.call("Cache", "GetCacheEntryDownloadURL", { key: "large", version: "v" });
  const url = new URL(String(json["signed_download_url"]));
  const startReading = async (): Promise<Socket> => {
    const socket = connect(Number(url.port), url.hostname);
    socket.on("error", () => undefined);
    socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(socket, "readable");
    return socket;
  };
  const idle = await startReading();
  await expect.poll(() => openFiles("archive")).toBe(0);
  idle.destroy();
  const stopped = await startReading();
  expect(openFiles("archive")).toBe(1);
  await services.close();
  expect(openFiles("archive")).toBe(0);
  stopped.destroy();
});

test("a folder that goes away while it runs fails requests, and nothing else", async () => {
  const cacheDir = join(tempDir(), "cache");
  const notes: string[] = [];
  const services = await openServices({ cacheDir, onNote: (code, message) => notes.push(`${code} ${message}`) });
  const wire = openWire(services);
  await wire.save("k", "content");
  rmSync(cacheDir, { recursive: true });
  const { status, json } = await wire.call("Cache", "CreateCacheEntry", { key: "other", version: "v" });
  expect([status, json]).toEqual([500, { code: "internal", msg: "The service failed" }]);
  expect(notes).toEqual([expect.stringMatching(/^service-failed POST \/twirp\/.*CreateCacheEntry failed: ENOENT/)]);
  expect(await wire.find(["k"])).toBe(undefined);
  await services.close();
});

test("what a killed service left is removed by the next, and nothing else is", async () => {
  const cacheDir = join(tempDir(), "cache");
  const [dead, alive] = [await startWorker(cacheDir), await startWorker(cacheDir)];
  for (const { wire } of [dead, alive]) {
    const { json } = await wire.call("Cache", "CreateCacheEntry", { key: `of ${wire.baseUrl}`, version: "v" });
    await wire.send("PUT", String(json["signed_upload_url"]), { body: "content" });
  }
  await dead.kill();
  expect(workIn(cacheDir)).toHaveLength(2);
  const next = await openServices({ cacheDir });
  expect(workIn(cacheDir)).toHaveLength(2);
  const finish = { key: `of ${alive.wire.baseUrl}`, version: "v", size_bytes: "7" };
  expect((await alive.wire.call("Cache", "FinalizeCacheEntryUpload", finish)).status).toBe(200);
  const wire = openWire(next);
  expect(await wire.find([finish.key])).toBe(finish.key);
  expect(await wire.find([`of ${dead.wire.baseUrl}`])).toBe(undefined);
  await wire.save(`of ${dead.wire.baseUrl}`, "again");
});

test("processes that share a folder reserve keys from one another and find what others save", async () => {
  const cacheDir = join(tempDir(), "cache");
  const workers = await Promise.all([1, 2, 3].map(async () => await startWorker(cacheDir)));
  const wires = workers.map(({ wire }) => wire);
  for (const [index, wire] of wires.entries()) await wire.save(`key-${index}`, `from ${index}`);
  for (const wire of wires) expect(await wire.find(["key-0"])).toBe("key-0");
  for (const wire of wires) expect(await wire.find(["key-"])).toBe("key-2");

  const request = { key: "one", version: "v" };
  const [first, second] = wires as [Wire, Wire, Wire];
  expect((await first.call("Cache", "CreateCacheEntry", request)).status).toBe(200);
  expect((await second.call("Cache", "CreateCacheEntry", request)).status).toBe(409);
  await workers[0]?.kill();
  expect((await second.call("Cache", "CreateCacheEntry", request)).status).toBe(200);
});

test("of many saves of one key at once, one wins and all readers see it whole", async () => {
  const cacheDir = join(tempDir(), "cache");
  const wires = await Promise.all(Array.from({ length: 4 }, async () => openWire(await openServices({ cacheDir }))));
  for (let round = 0; round < 10; round += 1) {
    const key = `key-${round}`;
    const outcomes = await Promise.all(
      wires.flatMap((wire, index) =>
        [0, 1].map(async (half) => {
          const created = await wire.call("Cache", "CreateCacheEntry", { key, version: "v" });
          if (created.status !== 200) return created.status;
          const body = `${index}${half}`.repeat(1000);
          await wire.send("PUT", String(created.json["signed_upload_url"]), { body });
          const finish = { key, version: "v", size_bytes: String(body.length) };
          return (await wire.call("Cache", "FinalizeCacheEntryUpload", finish)).status;
        }),
      ),
    );
    expect(new Set(outcomes)).toEqual(new Set([200, 409]));
    expect(outcomes.filter((status) => status === 200)).toHaveLength(1);
    const contents = await Promise.all(
      wires.map(async (wire) => {
        const { json } = await wire.call("Cache", "GetCacheEntryDownloadURL", { key, version: "v" });
        return (await wire.send("GET", String(json["signed_download_url"]))).text;
      }),
    );
    expect(new Set(contents).size).toBe(1);
    expect(contents[0]).toMatch(/^(\d\d)\1{999}$/);
  }
});

test("caches can be evicted, saved and found at once", async () => {
  const cacheDir = join(tempDir(), "cache");
  const limits = { maxCacheBytes: 5000 };
  const notes: string[] = [];
  const onNote = (code: string, message: string): void => void (code === "cache-evicted" || notes.push(message));
  const wires = await Promise.all(
    Array.from({ length: 3 }, async () => openWire(await openServices({ cacheDir, limits, onNote }))),
  );
  await Promise.all(
    wires.map(async (wire, index) => {
      for (let round = 0; round < 20; round += 1) {
        await wire.save(`key-${index}-${round}`, "x".repeat(1000));
        await wire.find(["none", "key-"]);
      }
    }),
  );
  expect(notes).toEqual([]);
  const archives = readdirSync(join(cacheDir, "entries"), { recursive: true }).filter((path) =>
    String(path).endsWith("archive"),
  );
  expect(archives.length).toBeLessThanOrEqual(5);
  expect(archives.length).toBeGreaterThan(0);
});

test("folders that cannot be used are an error, and one that others may write to is closed to them", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "file"), "");
  mkdirSync(join(dir, "real"));
  symlinkSync(join(dir, "real"), join(dir, "link"));
  const codeOf = async (cacheDir: string, artifactDir: string, host?: string): Promise<unknown> => {
    try {
      const more = host === undefined ? {} : { host };
      await startServices({ cacheDir, artifactDir, runId: "1", jobId: "1", ...more });
    } catch (error) {
      return isServicesError(error) ? error.code : error;
    }
    return "started";
  };
  expect(await codeOf(join(dir, "file"), join(dir, "a"))).toBe("SERVICES_FOLDER");
  expect(await codeOf(join(dir, "link"), join(dir, "a"))).toBe("SERVICES_FOLDER");
  expect(await codeOf(join(dir, "c"), join(dir, "file"))).toBe("SERVICES_FOLDER");
  expect(await codeOf(join(dir, "c"), join(dir, "a"), "192.0.2.1")).toBe("SERVICES_LISTEN");
  expect([workIn(join(dir, "c")), readdirSync(join(dir, "a"))]).toEqual([[], []]);
  mkdirSync(join(dir, "open"));
  chmodSync(join(dir, "open"), 0o777);
  await openServices({ cacheDir: join(dir, "open") });
  expect(statSync(join(dir, "open")).mode & 0o777).toBe(0o755);
});

test("it listens where it is told, and its URLs say so", async () => {
  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
  if (hasIpv6) expect(openWire(await openServices({ host: "::1" })).baseUrl).toMatch(/^http:\/\/\[::1\]:\d+\/$/);
  const wire = openWire(await openServices({ host: "127.0.0.2" }));
  expect(wire.baseUrl).toMatch(/^http:\/\/127\.0\.0\.2:\d+\/$/);
  await wire.save("k", "content");
  expect(await wire.find(["k"])).toBe("k");
});
