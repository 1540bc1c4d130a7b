import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tempDir } from "@steps/testkit";
import type { Log } from "@steps/model/operation";
import { describe, expect, test } from "vitest";
import type { JobHandle, JobInfo, ResultState } from "../src/index.ts";
import { openJobTable } from "../src/jobs/open-job-table.ts";
import {
  codeOf,
  firstOutput,
  isRunning,
  never,
  openTable,
  readAll,
  readStamped,
  scriptJob,
  stepsJob,
  tableOptions,
  unstamp,
} from "./jobs-support.ts";

/** All that is below a folder, as one text. */
function contentOf(dir: string): string {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")).join("\n");
}

describe("run()", () => {
  test("runs a job once however often it is asked to, and refuses another one under its id", async () => {
    const table = await openTable();
    const spec = scriptJob(table.dir, "echo x >>count; echo done");
    const job = table.run(spec);
    expect(table.run({ ...spec })).toBe(job);
    await job.ended;
    expect(table.run({ ...spec })).toBe(job);
    expect(codeOf(() => table.run({ ...spec, requestDigest: "other" }))).toBe("JOB_EXISTS");
    // GitLab's service takes any request under a known id for a repetition.
    expect(table.run({ ...spec, requestDigest: "other", refusesOtherRequest: false })).toBe(job);
    expect(readFileSync(join(spec.job.workDir, "count"), "utf8")).toBe("x\n");
    expect(table.list()).toEqual([job]);
    expect(job.info).toMatchObject({ status: "success", exitCode: 0, stdoutBytes: 5, stderrBytes: 0 });
  });

  test("says why a job failed in a bounded text, whose end is there", async () => {
    const table = await openTable();
    const name = "n".repeat(1_000_000);
    const job = table.run(stepsJob(table.dir, [{ name, script: "exit 3" }]));
    await job.ended;
    const { message = "" } = job.info.error ?? {};
    expect(Buffer.byteLength(message)).toBeLessThan(16 * 1024);
    expect(message).toMatch(/^step "n+…n+": exec: exit status 3$/);
    expect(
      statSync(join(table.dir, "state/jobs", readdirSync(join(table.dir, "state/jobs"))[0] ?? "", "job.json")).size,
    ).toBeLessThan(32 * 1024);
  });

  test("does not run a late repetition of a job that was closed, but a new request under its id", async () => {
    const dir = tempDir();
    const spec = scriptJob(dir, "echo x >>count");
    for (let round = 0; round < 2; round++) {
      // The second time it is a service that was started anew that has to know.
      await using table = await openJobTable(tableOptions(dir));
      if (round === 0) await table.run(spec).ended;
      await table.close(spec.id);
      expect(table.get(spec.id)).toBeUndefined();
      expect(codeOf(() => table.run(spec))).toBe("JOB_CLOSED");
    }
    await using table = await openJobTable(tableOptions(dir));
    await table.run({ ...spec, requestDigest: "new nonce" }).ended;
    await table.close(spec.id);
    await table.run({ ...spec, refusesOtherRequest: false }).ended;
    expect(readFileSync(join(spec.job.workDir, "count"), "utf8")).toBe("x\nx\nx\n");
  });

  test("takes ids whatever they are made of", async () => {
    const dir = tempDir();
    const ids = [
      "__proto__",
      "constructor",
      "../../../etc/x",
      "a\0b",
      "/",
      ".",
      "..",
      "ü".repeat(128),
      " ",
      "\n",
      "42",
    ];
    {
      await using table = await openJobTable(tableOptions(dir));
      const jobs = ids.map((id) => table.run(scriptJob(dir, "printf hi", { id })));
      const outputs = await Promise.all(jobs.map((job) => readAll(job)));
      expect(outputs.map(({ stdout }) => stdout.toString())).toEqual(ids.map(() => "hi"));
    }
    await using table = await openJobTable(tableOptions(dir));
    expect(new Set(table.list().map(({ id }) => id))).toEqual(new Set(ids));
    for (const id of ids) expect((await readAll(table.get(id) as JobHandle)).stdout.toString()).toBe("hi");
    for (const id of ids) await table.close(id);
    expect(readdirSync(join(dir, "state", "jobs"))).toEqual([]);
    expect(readdirSync(join(dir, "state", "trash"))).toEqual([]);
  });

  test("keeps no part of the request, no secret in particular, and files of variables only while the job runs", async () => {
    const notes: string[] = [];
    const log: Log = (level, message) => void (level === "info" || notes.push(message));
    const table = await openTable({ log });
    const secret = "correct-horse-battery";
    const spec = scriptJob(
      table.dir,
      `echo "$TOKEN" ${secret}; cat "\${{ vars.FILE }}"; stat -c %a "\${{ vars.FILE }}" "$(dirname "\${{ vars.FILE }}")"; sed s/e/E/g "\${{ vars.FILE }}"`,
      {
        variables: [
          { key: "FILE", value: `${secret}-in-file`, isFile: true, isMasked: true },
          { key: "../../evil", value: "x", isFile: true, isMasked: false },
          { key: "CI_JOB_TOKEN", value: "predefined-token", isFile: false, isMasked: false },
          { key: "PLAIN", value: "plain-variable-value", isFile: false, isMasked: false },
        ],
        job: {
          env: { TOKEN: secret, HTTPS_PROXY: "http://user:proxy-password@localhost", SOME: "unused-env-value" },
          maskedValues: [secret],
        },
      },
    );
    const job = table.run(spec);
    const { stdout } = await readAll(job);
    expect(stdout.toString()).toBe("[MASKED] [MASKED]\n[MASKED]600\n700\ncorrEct-horsE-battEry-in-filE");
    expect((await readStamped(job)).toString()).not.toContain(secret);
    await job.ended;
    const kept = contentOf(join(table.dir, "state"));
    for (const text of [secret, "predefined-token", "proxy-password"]) expect(kept).not.toContain(text);
    const [folder = ""] = readdirSync(join(table.dir, "state", "jobs"));
    expect(readdirSync(join(table.dir, "state", "jobs", folder)).toSorted()).toEqual([
      "engine",
      "files.jsonl",
      "job.json",
      "order.idx",
    ]);
    const record = readFileSync(join(table.dir, "state", "jobs", folder, "job.json"), "utf8");
    for (const text of ["plain-variable-value", "unused-env-value", "stat -c"]) expect(record).not.toContain(text);
    expect(notes).toEqual([]);
    for (const name of ["", "jobs", join("jobs", folder)]) {
      expect(statSync(join(table.dir, "state", name)).mode & 0o777).toBe(0o700);
    }
    expect(statSync(join(table.dir, "state", "jobs", folder, "order.idx")).mode & 0o777).toBe(0o600);
  });

  test("gives a job the ambient environment of the service and its own, nothing else", async () => {
    const table = await openTable({ env: { PATH: process.env["PATH"], HOME: "/home/x", CI_SECRET: "no", LANG: "C" } });
    const job = table.run(scriptJob(table.dir, "env", { job: { env: { MINE: "yes", LANG: "C.UTF-8" } } }));
    const lines = (await readAll(job)).stdout.toString().trim().split("\n");
    const names = lines.map((line) => line.split("=")[0]);
    expect(lines).toEqual(expect.arrayContaining(["MINE=yes", "LANG=C.UTF-8", "HOME=/home/x"]));
    expect(names).not.toContain("CI_SECRET");
  });

  test("refuses a working directory that cannot be one, and jobs beyond the limit, and keeps nothing of them", async () => {
    const table = await openTable({ limits: { maxJobs: 1 } });
    writeFileSync(join(table.dir, "file"), "");
    for (const workDir of ["relative", join(table.dir, "file"), join(table.dir, "file", "below"), "/proc/x", "/a\0b"]) {
      expect(codeOf(() => table.run(scriptJob(table.dir, "true", { job: { workDir } })))).toBe("WORK_DIR_UNUSABLE");
    }
    const first = table.run(scriptJob(table.dir, "sleep 100"));
    expect(codeOf(() => table.run(scriptJob(table.dir, "true")))).toBe("TOO_MANY_JOBS");
    expect(readdirSync(join(table.dir, "state", "jobs"))).toHaveLength(1);
    expect(statSync(join(table.dir, "work")).mode & 0o777).toBe(0o700);
    first.cancel();
    await first.ended;
    await table.run(scriptJob(table.dir, "true")).ended;
  });
});

describe("how jobs end", () => {
  test.each<[string, string, Partial<JobInfo>]>([
    ["a step that fails", "exit 7", { status: "failure", exitCode: 7 }],
    ["a step that is killed", "kill -9 $$", { status: "failure", exitCode: 137 }],
    ["a success", "true", { status: "success", exitCode: 0 }],
  ])("%s", async (_name, script, expected) => {
    const table = await openTable();
    const job = table.run(scriptJob(table.dir, script));
    await job.ended;
    expect(job.info).toMatchObject(expected);
    expect(job.trace()?.root?.det?.status).toBe(expected.status);
    expect(job.info.finishedAt).toBeGreaterThanOrEqual(job.info.startedAt);
  });

  test("a step that cannot be loaded is told in the log, as the service's own line on standard error", async () => {
    const table = await openTable();
    const job = table.run(
      stepsJob(table.dir, [
        { name: "a", script: "printf 'no end'" },
        { name: "b", step: "./nothing" },
      ]),
    );
    const { stdout, stderr } = await readAll(job);
    await job.ended;
    expect(job.info).toMatchObject({ status: "error", error: { message: expect.stringContaining("nothing") } });
    expect(stdout.toString()).toBe("no end");
    const stamped = await readStamped(job);
    expect(unstamp(stamped, "01O").toString()).toBe("no end\n");
    expect(unstamp(stamped, "00E").toString()).toBe(stderr.toString());
    expect(job.info.stderrBytes).toBe(stderr.length);
  });

  test("a time limit", async () => {
    const table = await openTable();
    const job = table.run(scriptJob(table.dir, "echo begun; sleep 100", { timeoutMs: 3000 }));
    expect((await readAll(job)).stdout.toString()).toBe("begun\n");
    expect(job.info).toMatchObject({ status: "timeout", exitCode: 124 });
  });

  test("a cancel ends a step that ignores TERM after its grace, with all it started", async () => {
    const table = await openTable({ graceMs: 100 });
    const job = table.run(scriptJob(table.dir, "trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1; done"));
    const pid = Number(await firstOutput(job));
    job.cancel();
    job.cancel();
    await job.ended;
    expect(job.info).toMatchObject({ status: "cancelled", exitCode: 143, error: { code: "CANCELLED" } });
    expect(isRunning(pid)).toBe(false);
    job.cancel();
    expect(job.info.status).toBe("cancelled");
  });

  test("a cancel lets a step clean up", async () => {
    const table = await openTable({ graceMs: 30_000 });
    const job = table.run(
      scriptJob(table.dir, "trap 'echo cleaned; exit 1' TERM; echo up; while :; do sleep 0.05; done"),
    );
    expect(await firstOutput(job)).toBe("up\n");
    job.cancel();
    expect((await readAll(job)).stdout.toString()).toBe("up\ncleaned\n");
    expect(job.info.status).toBe("cancelled");
  });

  test("a log that is full says so once, and the job goes on", async () => {
    const table = await openTable({ limits: { maxLogBytes: 100_000 } });
    const job = table.run(
      stepsJob(table.dir, [
        { name: "a", script: "head -c 70000 /dev/zero" },
        { name: "b", script: "head -c 70000 /dev/zero; head -c 9 /dev/zero >&2" },
        { name: "c", script: "echo more; touch end" },
      ]),
    );
    const { stdout, stderr } = await readAll(job);
    expect(stdout).toHaveLength(100_000);
    expect(stderr.toString()).toMatch(/^The job's log has reached its limit of 100000 bytes[^\n]*\n$/);
    expect(job.info.status).toBe("success");
    expect(existsSync(join(table.dir, "work", "end"))).toBe(true);
  });
});

describe("results", () => {
  async function statesOf(job: JobHandle, slowMs = 0): Promise<ResultState[]> {
    const states: ResultState[] = [];
    for await (const state of job.readResults(never)) {
      states.push(state);
      if (slowMs > 0) await sleep(slowMs);
    }
    return states;
  }

  test("begin with the state now and end with the last one, the same for those who come late", async () => {
    const table = await openTable();
    const steps = [
      { name: "a", script: "echo v=1 >>$STEP_OUTPUT_FILE" },
      { name: "b", script: "exit 3" },
      { name: "c", script: "true" },
    ];
    const job = table.run(stepsJob(table.dir, steps));
    const [all, slow] = await Promise.all([statesOf(job), statesOf(job, 50)]);
    const late = await statesOf(job);
    expect(late).toHaveLength(1);
    expect(all.at(-1)).toEqual(late[0]);
    expect(slow.at(-1)).toEqual(late[0]);
    expect(all[0]?.result.status).toBe("running");
    expect(all.length).toBeGreaterThan(2);
    expect(late[0]).toMatchObject({ info: { status: "failure", exitCode: 3 }, result: { status: "failure" } });
    expect(late[0]?.result.subStepResults?.map(({ status }) => status)).toEqual(["success", "failure"]);
  });

  test("of a job whose journal a step spoiled still say how it ended, and its trace is refused", async () => {
    const table = await openTable();
    const job = table.run(scriptJob(table.dir, "echo >>$(dirname $STEP_OUTPUT_FILE)/../trace.jsonl; exit 4"));
    await job.ended;
    expect((await statesOf(job)).map(({ result }) => result.status)).toEqual(["failure"]);
    expect(job.info).toMatchObject({ status: "failure", exitCode: 4 });
    expect(() => job.trace()).toThrow(/journal/i);
  });

  test("of many steps do not hold up the job", async () => {
    const table = await openTable();
    const steps = Array.from({ length: 150 }, (_, n) => ({ name: `s${n}`, script: ":" }));
    const job = table.run(stepsJob(table.dir, steps));
    const states = await statesOf(job);
    expect(states.at(-1)?.result.subStepResults).toHaveLength(150);
    expect(job.info.status).toBe("success");
  });
});

describe("a step that lays hands on the service's files", () => {
  const folder = "d=$(dirname $STEP_OUTPUT_FILE)/../../../..; cd $d";

  test.each<[string, string]>([
    ["removes them all", `${folder}; rm -rf ./*`],
    [
      "puts pipes in their place",
      `${folder}; for f in order.idx files.jsonl job.json job.json.next runner.log; do rm -f $f; mkfifo $f; done`,
    ],
    [
      "puts links in their place",
      `${folder}; for f in order.idx files.jsonl job.json job.json.next runner.log; do ln -sf /etc/passwd $f; done`,
    ],
    [
      "writes garbage to them",
      `${folder}; for f in order.idx files.jsonl; do head -c 9999 /dev/urandom >$f; done; find . -name '*.log' -exec truncate -s 0 {} +`,
    ],
    ["makes the log's records lie", `${folder}; head -c 64 /dev/zero | tr '\\0' '\\377' >order.idx`],
  ])("that %s harms its own job only", async (_name, sabotage) => {
    const dir = tempDir();
    {
      await using table = await openJobTable(tableOptions(dir));
      const steps = [
        { name: "a", script: "echo before" },
        { name: "b", script: `echo more; ${sabotage}` },
        { name: "c", script: "echo after; echo err >&2" },
        { name: "d", step: "./nothing" },
      ];
      const job = table.run(stepsJob(dir, steps, { id: "spoiled" }));
      const other = table.run(scriptJob(dir, "echo fine", { id: "other" }));
      await Promise.allSettled([readAll(job), readStamped(job)]);
      await job.ended;
      expect(job.info.status).not.toBe("running");
      for (const outcome of await Promise.allSettled([readAll(job), readStamped(job)])) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "LOG_DAMAGED" });
      }
      for await (const { result } of job.readResults(never)) expect(result.status).toBe("failure");
      expect((await readAll(other)).stdout.toString()).toBe("fine\n");
    }
    await using table = await openJobTable(tableOptions(dir));
    expect(table.get("other")?.info.status).toBe("success");
    const spoiled = table.get("spoiled");
    if (spoiled !== undefined) await Promise.allSettled([readAll(spoiled), readStamped(spoiled)]);
    await table.close("spoiled");
    await table.run(scriptJob(dir, "true", { id: "spoiled", refusesOtherRequest: false })).ended;
  });
});
