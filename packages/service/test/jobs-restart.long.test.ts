import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JobHandle } from "../src/index.ts";
import { openJobTable } from "../src/jobs/open-job-table.ts";
import { isRunning, never, readAll, readStamped, stepsJob, tableOptions, unstamp } from "./jobs-support.ts";

/** A busy machine takes its time. */
const SOON = { timeout: 30_000, interval: 10 };

const HOST = fileURLToPath(new URL("jobs-host.ts", import.meta.url));

interface Host {
  readonly child: ChildProcess;
  /** The bytes that the followers have received so far, by job and stream. */
  readonly seen: Map<string, Buffer>;
  readonly lines: unknown[];
  /** Waits until something is so. */
  until(condition: () => boolean): Promise<void>;
  kill(): Promise<void>;
}

function startHost(dir: string, jobs: readonly (readonly [string, unknown])[], shell = ""): Host {
  const file = join(dir, "jobs.json");
  writeFileSync(file, JSON.stringify(jobs));
  const argv = ["--conditions=steps-source", HOST, file, dir];
  const child = spawn("sh", ["-c", `${shell} exec "$0" "$@"`, process.execPath, ...argv], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const seen = new Map<string, Buffer>();
  const lines: unknown[] = [];
  let changed = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text) as { id?: string; stream?: string; base64?: string };
    lines.push(line);
    if (line.base64 !== undefined) {
      const key = `${line.id} ${line.stream}`;
      seen.set(key, Buffer.concat([seen.get(key) ?? Buffer.alloc(0), Buffer.from(line.base64, "base64")]));
    }
    changed.resolve();
    changed = Promise.withResolvers<void>();
  });
  return {
    child,
    seen,
    lines,
    async until(condition) {
      while (!condition()) await changed.promise;
    },
    async kill() {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

const background = "sleep 1000 & echo $! >>pids; (setsid sleep 1000 & echo $! >>pids); echo $$ >>pids";

function pidsOf(dir: string): number[] {
  const file = join(dir, "work", "pids");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
}

describe("a service that is killed and started anew", () => {
  test("tells the truth: what ended is as it was, what ran is interrupted, and none of its processes is left", async () => {
    const dir = tempDir();
    const host = startHost(dir, [
      ["done", [{ name: "a", script: "echo done; echo oops >&2; exit 3" }]],
      ["silent", [{ name: "a", script: `${background}; touch ../silent-runs; wait` }]],
      [
        "chatty",
        [{ name: "a", script: `${background}; i=0; while :; do echo line $i; echo e$i >&2; i=$((i+1)); done` }],
      ],
      [
        "second",
        [
          { name: "a", script: "printf first" },
          { name: "b", script: `echo in b; trap '' TERM; ${background}; wait; wait` },
        ],
      ],
    ]);
    const has = (id: string, bytes: number): boolean => (host.seen.get(`${id} stdout`)?.length ?? 0) >= bytes;
    await host.until(
      () => has("chatty", 100_000) && has("second", 10) && host.lines.some((line) => "ended" in Object(line)),
    );
    await expect.poll(() => existsSync(join(dir, "silent-runs")) && pidsOf(dir).length === 9, SOON).toBe(true);
    const pids = pidsOf(dir);
    await host.kill();

    const notes: string[] = [];
    await using table = await openJobTable({ ...tableOptions(dir), log: (_, message) => void notes.push(message) });
    for (const pid of pids) expect(isRunning(pid), `process ${pid}`).toBe(false);
    const job = (id: string): JobHandle => table.get(id) as JobHandle;
    expect(
      table
        .list()
        .map(({ info }) => `${info.id}: ${info.status}, ${info.exitCode}`)
        .toSorted((a, b) => (a < b ? -1 : 1)),
    ).toEqual(["chatty: interrupted, 1", "done: failure, 3", "second: interrupted, 1", "silent: interrupted, 1"]);
    expect(notes).toHaveLength(3);
    expect(await readAll(job("done"))).toEqual({ stdout: Buffer.from("done\n"), stderr: Buffer.from("oops\n") });
    expect((await readAll(job("silent"))).stderr.toString()).toBe("The service ended while the job ran\n");
    expect((await readAll(job("second"))).stdout.toString()).toBe("firstin b\n");

    // Bytes that a follower has seen stay where they were, and more may follow them, so the follower can go on at its
    // offset.
    for (const stream of ["stdout", "stderr"] as const) {
      const seen = host.seen.get(`chatty ${stream}`) as Buffer;
      const after = (await readAll(job("chatty")))[stream];
      expect(after.subarray(0, seen.length).equals(seen)).toBe(true);
      const lines = after.toString().split("\n").slice(0, -2);
      const mark = stream === "stdout" ? "line " : "e";
      expect(lines).toEqual(lines.map((_, n) => `${mark}${n}`));
    }
    const stamped = await readStamped(job("chatty"));
    expect(unstamp(stamped, "01O").toString()).toMatch(/^line 0\nline 1\n/);
    expect(unstamp(stamped, "00E").toString()).toBe("The service ended while the job ran\n");

    for await (const { result, info } of job("second").readResults(never)) {
      expect(info).toMatchObject({ status: "interrupted", error: { code: "INTERRUPTED" } });
      expect(result.status).toBe("failure");
      expect(result.subStepResults?.map(({ status }) => status)).toEqual(["success", "failure"]);
    }
    expect(job("second").trace()).toMatchObject({
      integrity: { recovered: true },
      root: { children: [{ det: { status: "success" } }, { det: { status: "interrupted" } }] },
    });
    // A request that comes again finds the job as it is.
    const spec = stepsJob(dir, [{ name: "a", script: `${background}; touch ../silent-runs; wait` }], { id: "silent" });
    expect(table.run(spec)).toBe(job("silent"));
    expect(pidsOf(dir)).toEqual(pids);
  });

  test("killed again while it puts things in order, it does so at the next start", async () => {
    const dir = tempDir();
    const loop = "trap '' TERM; echo $$ >>pids; echo up; while :; do sleep 1; done";
    const host = startHost(dir, [["a", [{ name: "a", script: loop }]]]);
    await host.until(() => host.seen.has("a stdout"));
    await host.kill();
    // It has to wait for the step that ignores TERM.
    const second = startHost(dir, []);
    await expect
      .poll(() => readFileSync(join(dir, "state", "owner"), "utf8").startsWith(`${second.child.pid} `), SOON)
      .toBe(true);
    await second.kill();
    await using table = await openJobTable(tableOptions(dir));
    expect(table.list().map(({ info }) => info.status)).toEqual(["interrupted"]);
    expect(pidsOf(dir).map(isRunning)).toEqual([false]);
    expect((await readAll(table.get("a") as JobHandle)).stdout.toString()).toBe("up\n");
  });

  test("believes no index, journal or record that was cut off or spoiled", async () => {
    const dir = tempDir();
    const ids = ["index", "journal", "record", "list"];
    const steps = [{ name: "a", script: "echo $$ >>pids; echo one; echo two; sleep 1000" }];
    const host = startHost(
      dir,
      ids.map((id) => [id, steps] as const),
    );
    await host.until(() => ids.every((id) => host.seen.get(`${id} stdout`)?.length === 8));
    await host.kill();
    const jobs = join(dir, "state", "jobs");
    const folders = new Map(
      readdirSync(jobs).map((name) => [
        (JSON.parse(readFileSync(join(jobs, name, "job.json"), "utf8")) as { id: string }).id,
        join(jobs, name),
      ]),
    );
    const at = (id: string, file: string): string => join(folders.get(id) ?? "", file);
    truncateSync(at("index", "order.idx"), 35);
    const runs = at("journal", "engine/runs");
    appendFileSync(join(runs, readdirSync(runs)[0] ?? "", "trace.jsonl"), '{"seq":99}\n{"half');
    writeFileSync(at("record", "job.json"), "{");
    truncateSync(at("list", "files.jsonl"), 10);
    const notes: string[] = [];
    await using table = await openJobTable({ ...tableOptions(dir), log: (_, message) => void notes.push(message) });
    expect(pidsOf(dir).filter(isRunning)).toEqual([]);
    expect(notes.filter((note) => note.includes("set aside"))).toHaveLength(1);
    for (const id of ["index", "journal", "list"]) {
      expect(table.get(id)?.info.status, id).toBe("interrupted");
      expect((await readAll(table.get(id) as JobHandle)).stdout.toString(), id).toBe("one\ntwo\n");
    }
    expect(() => table.get("journal")?.trace()).toThrow();
    for await (const { result } of (table.get("journal") as JobHandle).readResults(never))
      expect(result.status).toBe("failure");
    // The place of the damaged one is free again.
    await table.run(stepsJob(dir, [{ name: "a", script: "true" }], { id: "record" })).ended;
    expect(table.get("record")?.info.status).toBe("success");
  });

  test("killed at any moment of a job's life, nothing that was seen is lost and nothing runs twice", async () => {
    const dir = tempDir();
    const steps = Array.from({ length: 6 }, (_, n) => ({
      name: `s${n}`,
      script: `echo x >>ran; echo step ${n}; echo $$ >>pids`,
    }));
    for (let round = 0; round < 8; round++) {
      const id = `job ${round}`;
      const host = startHost(dir, [[id, steps]]);
      // Each time a little later.
      await host.until(
        () =>
          host.lines.length >= Math.min(round, 5) + 1 + 2 * round || host.lines.some((line) => "ended" in Object(line)),
      );
      await host.kill();
      const ran = readFileSync(join(dir, "work", "ran"), { encoding: "utf8", flag: "a+" });
      await using table = await openJobTable(tableOptions(dir));
      expect(pidsOf(dir).filter(isRunning)).toEqual([]);
      const job = table.get(id);
      const seen = host.seen.get(`${id} stdout`) ?? Buffer.alloc(0);
      expect(job).toBeDefined();
      expect((await readAll(job as JobHandle)).stdout.subarray(0, seen.length)).toEqual(seen);
      expect(["interrupted", "success"]).toContain(job?.info.status);
      expect(readFileSync(join(dir, "work", "ran"), "utf8")).toBe(ran);
    }
  });
});

describe("a disk that takes no more", () => {
  test("ends the job that fills it with an error, and the table goes on", async () => {
    const dir = tempDir();
    // No file of the host can be larger than 256 KiB.
    const host = startHost(
      dir,
      [
        ["large", [{ name: "a", script: "echo begun; head -c 1000000 /dev/zero; sleep 1000" }]],
        ["small", [{ name: "a", script: "echo hi" }]],
      ],
      "ulimit -f 512;",
    );
    const ended = (): { id: string; ended: { status: string; error?: { code: string } } }[] =>
      host.lines.filter((line): line is never => "ended" in Object(line));
    await host.until(() => ended().length === 2);
    const byId = new Map(ended().map(({ id, ended: info }) => [id, info]));
    expect(byId.get("small")).toMatchObject({ status: "success" });
    expect(byId.get("large")).toMatchObject({ status: "error", error: { code: "STATE_UNUSABLE" } });
    expect(host.child.exitCode).toBeNull();
    await host.kill();
    await using table = await openJobTable(tableOptions(dir));
    expect(table.get("large")?.info.status).toBe("error");
    const { stdout } = await readAll(table.get("large") as JobHandle);
    expect(stdout.subarray(0, 6).toString()).toBe("begun\n");
  });

  test("refuses a job that it cannot even begin, and keeps nothing of it", async () => {
    const dir = tempDir();
    await using table = await openJobTable(tableOptions(dir));
    const { chmodSync, renameSync, mkdirSync } = await import("node:fs");
    // Root may write everywhere: a file where the folder was stops it too.
    renameSync(join(dir, "state", "jobs"), join(dir, "state", "gone"));
    writeFileSync(join(dir, "state", "jobs"), "");
    const spec = stepsJob(dir, [{ name: "a", script: "true" }]);
    expect(() => table.run(spec)).toThrow(expect.objectContaining({ code: "STATE_UNUSABLE" }));
    expect(table.list()).toEqual([]);
    renameSync(join(dir, "state", "jobs"), join(dir, "state", "file"));
    mkdirSync(join(dir, "state", "jobs"));
    chmodSync(join(dir, "state", "jobs"), 0o700);
    await table.run(spec).ended;
    expect(table.get(spec.id)?.info.status).toBe("success");
  });
});
