import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import type { JobHandle, ResultState } from "../src/index.ts";
import { openJobTable } from "../src/jobs/open-job-table.ts";
import {
  codeOf,
  firstOutput,
  never,
  openTable,
  readAll,
  readStamped,
  scriptJob,
  tableOptions,
} from "./jobs-support.ts";

/** A busy machine takes its time. */
const SOON = { timeout: 30_000, interval: 10 };

describe("close()", () => {
  test("ends the job, forgets it and removes its files, for those who follow it too", async () => {
    const table = await openTable({ graceMs: 100 });
    const job = table.run(scriptJob(table.dir, "trap '' TERM; echo up; while :; do sleep 1; done"));
    await firstOutput(job);
    const followers = [readAll(job), readStamped(job), readAll(job)];
    const results = (async () => {
      const states: ResultState[] = [];
      for await (const state of job.readResults(never)) states.push(state);
      return states.at(-1)?.info.status;
    })();
    await Promise.all([table.close(job.id), table.close(job.id)]);
    expect(table.list()).toEqual([]);
    expect(readdirSync(join(table.dir, "state", "jobs"))).toEqual([]);
    for (const follower of await Promise.allSettled(followers)) {
      if (follower.status === "rejected") expect(follower.reason).toMatchObject({ code: "JOB_NOT_FOUND" });
    }
    expect(await results).toBe("cancelled");
    await expect(readAll(job)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    expect(() => job.trace()).toThrow("closed or has expired");
    await table.close(job.id);
    await table.close("never heard of");
  });

  test("waits its grace and half a second, then hurries", async () => {
    const table = await openTable();
    const spec = scriptJob(table.dir, "trap '' TERM; echo up; while :; do sleep 1; done", { graceMs: 50 });
    const job = table.run(spec);
    await firstOutput(job);
    const closing = table.close(job.id);
    expect(codeOf(() => table.run(spec))).toBe("JOB_CLOSED");
    await closing;
    expect(job.info.status).toBe("cancelled");
  });
});

describe("retention", () => {
  test("forgets ended jobs after their time, the oldest beyond the limit at once, and never one that runs", async () => {
    const table = await openTable({ limits: { maxFinished: 2 } });
    const running = table.run(scriptJob(table.dir, "sleep 1000"));
    const jobs: JobHandle[] = [];
    for (let n = 0; n < 4; n++) {
      const job = table.run(scriptJob(table.dir, `echo ${n}`));
      jobs.push(job);
      await readAll(job);
      await job.ended;
    }
    await expect.poll(() => table.list(), SOON).toEqual([running, ...jobs.slice(2)]);
    await expect(readAll(jobs[0] as JobHandle)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    expect((await readAll(jobs[3] as JobHandle)).stdout.toString()).toBe("3\n");
    expect(readdirSync(join(table.dir, "state", "jobs"))).toHaveLength(3);
  });

  test("after their time, also when the service was started anew; a repetition does not run again", async () => {
    const dir = tempDir();
    const spec = scriptJob(dir, "echo x >>count");
    {
      await using table = await openJobTable(tableOptions(dir));
      await table.run(spec).ended;
    }
    await using table = await openJobTable({ ...tableOptions(dir), limits: { retentionMs: 1 } });
    await expect.poll(() => table.list(), SOON).toEqual([]);
    expect(codeOf(() => table.run(spec))).toBe("JOB_CLOSED");
    expect(readdirSync(join(dir, "state", "jobs"))).toEqual([]);
    await table.run({ ...spec, requestDigest: "other" }).ended;
    await expect.poll(() => table.list(), SOON).toEqual([]);
  });
});

describe("openJobTable()", () => {
  test("refuses a state directory that another table uses, in this process too", async () => {
    const dir = tempDir();
    const first = await openJobTable(tableOptions(dir));
    await expect(openJobTable(tableOptions(dir))).rejects.toMatchObject({ code: "STATE_IN_USE" });
    await first[Symbol.asyncDispose]();
    await (await openJobTable(tableOptions(dir)))[Symbol.asyncDispose]();
    expect(readdirSync(join(dir, "state")).toSorted()).toEqual(["damaged", "jobs", "pipes", "trash"]);
  });

  test("shows the jobs of before with their logs, results and traces, the oldest first", async () => {
    const dir = tempDir();
    const specs = ["echo one; exit 3", "printf 'two\\nthree' >&2"].map((script) => scriptJob(dir, script));
    const before: unknown[] = [];
    const known = async (job: JobHandle): Promise<unknown> => {
      const results: ResultState[] = [];
      for await (const state of job.readResults(never)) results.push(state);
      return [job.info, await readAll(job), await readStamped(job), results, job.trace(), job.requestDigest];
    };
    {
      await using table = await openJobTable(tableOptions(dir));
      for (const spec of specs) {
        const job = table.run({ ...spec, tokenDigest: "abc" });
        await job.ended;
        before.push(await known(job));
      }
    }
    await using table = await openJobTable(tableOptions(dir));
    expect(await Promise.all(table.list().map(known))).toEqual(before);
    for (const spec of specs) expect(table.run(spec)).toBe(table.get(spec.id));
  });

  test("shows jobs that began in one millisecond in the order of their ids", async () => {
    const dir = tempDir();
    const ids = ["B", "a", "a-1", "b", "c", "d", "e", "é"];
    {
      await using table = await openJobTable(tableOptions(dir));
      await Promise.all(ids.map((id) => table.run(scriptJob(dir, "true", { id })).ended));
    }
    const startedAt = Date.now();
    const jobs = join(dir, "state", "jobs");
    for (const name of readdirSync(jobs)) {
      const record = { ...recordOf(join(jobs, name)), startedAt };
      writeFileSync(join(jobs, name, "job.json"), JSON.stringify(record));
    }
    await using table = await openJobTable(tableOptions(dir));
    expect(table.list().map(({ id }) => id)).toEqual(ids);
  });

  test("sets aside what is no job, and says so", async () => {
    const dir = tempDir();
    const ids = ["good", "torn", "empty", "array", "foreign"];
    {
      await using table = await openJobTable(tableOptions(dir));
      await Promise.all(ids.map((id) => table.run(scriptJob(dir, "echo hi", { id })).ended));
    }
    const jobs = join(dir, "state", "jobs");
    const folderOf = (id: string): string =>
      join(jobs, readdirSync(jobs).find((name) => recordOf(join(jobs, name)).id === id) ?? "");
    const folders = Object.fromEntries(ids.map((id) => [id, folderOf(id)]));
    const torn = readFileSync(join(folders["torn"] ?? "", "job.json"), "utf8");
    writeFileSync(join(folders["torn"] ?? "", "job.json"), torn.slice(0, -20));
    writeFileSync(join(folders["empty"] ?? "", "job.json"), "");
    writeFileSync(join(folders["array"] ?? "", "job.json"), "[]");
    writeFileSync(join(folders["foreign"] ?? "", "job.json"), torn);
    writeFileSync(join(jobs, "a file"), "");
    mkdirSync(join(jobs, "0".repeat(32)));
    const notes: string[] = [];
    await using table = await openJobTable({ ...tableOptions(dir), log: (_, message) => void notes.push(message) });
    expect(table.list().map(({ id }) => id)).toEqual(["good"]);
    expect(notes.filter((note) => note.includes("set aside"))).toHaveLength(6);
    expect(readdirSync(join(dir, "state", "damaged"))).toHaveLength(6);
    expect(readdirSync(jobs)).toHaveLength(1);
  });
});

function recordOf(folder: string): { readonly id?: unknown } {
  return JSON.parse(readFileSync(join(folder, "job.json"), "utf8")) as { id?: unknown };
}
