import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { buildZip, createGitRepository, snapshot, startFileServer, startGitHttpServer, tempDir } from "@steps/testkit";
import type { ComponentRequest } from "../src/index.ts";
import { createCache } from "../src/index.ts";
import { BACKENDS, leftovers, openCache } from "./fixtures.ts";

const WORKER = join(import.meta.dirname, "resolve-worker.ts");

function startWorker(root: string, count: number, request: ComponentRequest): ReturnType<typeof spawn> {
  const args = ["--conditions=steps-source", "--no-warnings", WORKER, root, String(count), JSON.stringify(request)];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

async function linesOf(child: ReturnType<typeof spawn>): Promise<string[]> {
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(0);
  return text.trimEnd().split("\n");
}

test.each(BACKENDS)("two hundred resolve() calls in one process make one fetch by %s", async (git) => {
  const repository = await createGitRepository(join(tempDir(), "project"), { "step.yml": "x" });
  await using server = await startGitHttpServer(dirname(repository.dir));
  const root = join(tempDir(), "cache");
  const request = { kind: "git", url: `${server.url}/project`, version: await repository.revision() } as const;
  const caches = Array.from({ length: 4 }, () => createCache({ root, git }));
  const resolved = await Promise.all(Array.from({ length: 200 }, (_, index) => caches[index % 4]?.resolve(request)));
  expect(new Set(resolved.map((component) => component?.dir)).size).toBe(1);
  expect(resolved.filter((component) => component !== undefined && !component.fetch.isHit)).toHaveLength(1);
  expect(server.counts.fetch).toBe(1);
  await Promise.all(caches.map((cache) => cache[Symbol.asyncDispose]()));
});

test("two hundred resolve() calls of a branch in one object look it up once", async () => {
  const repository = await createGitRepository(join(tempDir(), "project"), { "step.yml": "x" });
  await using server = await startGitHttpServer(dirname(repository.dir));
  await using cache = openCache({ git: "system" });
  const request = { kind: "git", url: `${server.url}/project`, version: "main" } as const;
  await Promise.all(Array.from({ length: 200 }, () => cache.resolve(request)));
  expect([server.counts.lsRefs, server.counts.fetch]).toEqual([1, 1]);
});

test("two hundred resolve() calls in eight processes make one fetch", async () => {
  const repository = await createGitRepository(join(tempDir(), "project"), { "step.yml": "x" });
  await using server = await startGitHttpServer(dirname(repository.dir));
  await using files = await startFileServer({ "/a.zip": buildZip([{ name: "step.yml", content: "y" }]) });
  const root = join(tempDir(), "cache");
  const commit = await repository.revision();
  const archive = await openCache().resolve({ kind: "zip", url: `${files.url}/a.zip` });
  const requests: ComponentRequest[] = [
    { kind: "git", url: `${server.url}/project`, version: commit },
    { kind: "zip", url: `${files.url}/a.zip`, sha256: archive.resource.digest["sha256"] as string },
  ];
  const lines = await Promise.all(
    Array.from({ length: 8 }, (_, index) => linesOf(startWorker(root, 50, requests[index % 2] as ComponentRequest))),
  );
  expect(lines.flat()).toHaveLength(400);
  expect(new Set(lines.flat()).size).toBe(2);
  expect(server.counts.fetch).toBe(1);
  expect(files.requests).toHaveLength(2);
});

test("resolve() killed anywhere publishes nothing half, and the next one works", async () => {
  const files = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f/${index}`, "x".repeat(5000) + index]));
  const repository = await createGitRepository(join(tempDir(), "project"), files);
  await using server = await startGitHttpServer(dirname(repository.dir));
  const root = join(tempDir(), "cache");
  const request = { kind: "git", url: `${server.url}/project`, version: "main" } as const;
  let killed = 0;
  for (const afterMs of [30, 120, 180, 220, 260, 300, 340, 400]) {
    const child = startWorker(root, 1, request);
    const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
    const [, signal] = (await once(child, "close")) as [number | null, string | null];
    clearTimeout(timer);
    if (signal === "SIGKILL") killed += 1;
    await using look = openCache({ root });
    const report = await look.verify();
    expect(report.damaged).toEqual([]);
  }
  expect(killed).toBeGreaterThan(0);
  const [dir] = await linesOf(startWorker(root, 1, request));
  expect(snapshot(dir as string)).toEqual(files);
  await using cache = openCache({ root });
  await cache.collect({});
  expect(leftovers(root)).toEqual([]);
});
