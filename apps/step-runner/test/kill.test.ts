import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifyTrace } from "@steps/trace";
import { describe, expect, test } from "vitest";
import { createWorld, processesWith, readTrace, type Trace, uniqueSeconds, until, type World } from "./harness.ts";

type Step = NonNullable<Trace["root"]>;

/** Six processes, some of them two levels down; each says in a file of its own that it started and that it ended. */
function job(seconds: string): string {
  const script = (name: string, then: string) =>
    `{name: ${name}, script: 'echo s >>${name}.began; sleep 0.02; echo "log of ${name}"; ` +
    `printf "{\\"name\\":\\"value\\",\\"value\\":\\"of ${name}\\"}\\n" >>"$STEP_OUTPUT_FILE"; echo s >>${name}.ended${then}'}`;
  return [
    `- ${script("one", "")}`,
    `- name: group`,
    `  steps:`,
    `    - ${script("two", "")}`,
    `    - name: inner`,
    `      steps:`,
    `        - ${script("three", "")}`,
    `        - ${script("four", "")}`,
    `- ${script("five", "")}`,
    `- ${script("six", `; sleep ${seconds} & sleep ${seconds}`)}`,
  ].join("\n");
}

function flatten(records: readonly Step[]): Step[] {
  return records.flatMap((record) => [record, ...flatten(record.children ?? [])]);
}

function named(trace: Trace, name: string): Step | undefined {
  return flatten(trace.root === undefined ? [] : [trace.root]).find((record) => record.name === name);
}

const NAMES = ["one", "two", "three", "four", "five", "six"];

function assertTruthful(world: World, trace: Trace): void {
  const ran = (name: string, what: string) => existsSync(join(world.work, `${name}.${what}`));
  for (const name of NAMES) {
    const record = named(trace, name);
    const status = record?.det?.status;
    // A step that is reported as finished did finish, with its outputs; a step that ran is not hidden; a step that did
    // not run is not invented.
    if (status === "success") {
      expect(ran(name, "ended")).toBe(true);
      expect(record?.det?.outputs).toEqual({ value: { value: `of ${name}` } });
    } else if (record !== undefined) {
      expect(status).toBe("interrupted");
    }
    if (ran(name, "began")) expect(record).toBeDefined();
  }
  const open = flatten(trace.root === undefined ? [] : [trace.root]).filter(
    (record) => record.det?.status !== "success",
  );
  // One process at a time: what is open is one line from the job down.
  expect(open.filter((record) => (record.children ?? []).length === 0).length).toBeLessThanOrEqual(1);
}

describe("a runner killed at any moment", () => {
  // Start-up takes about 80 ms and the job about 250 ms.
  const delays = Array.from({ length: 18 }, (_, index) => 40 + index * 20);
  test.each(delays)("after %i ms", async (delay) => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const runner = world.start(["ci", "--quiet"], { env: { STEPS: job(seconds) } });
    await new Promise((fulfil) => setTimeout(fulfil, delay));
    process.kill(runner.pid, "SIGKILL");
    await runner.ended;
    const hasJournal = existsSync(world.stateDir) && world.runs().some((path) => existsSync(join(path, "trace.jsonl")));
    const recovered = await world.run(["trace", "recover", "--output-file", "trace.json"]);
    expect(processesWith(seconds)).toEqual([]);
    if (!hasJournal) {
      expect(recovered).toMatchObject({ code: 1, stderr: expect.stringContaining("Cannot find a journal") });
      return;
    }
    expect(recovered).toMatchObject({ code: 0, stdout: "" });
    const trace = await readTrace(join(world.work, "trace.json"));
    expect(verifyTrace(trace)).toEqual([]);
    assertTruthful(world, trace);
    const byPath = await world.run(["trace", "recover", world.runs()[0] as string, "--output-file", "again.json"]);
    expect(byPath.code).toBe(0);
    expect(readFileSync(join(world.work, "again.json"), "utf8")).toBe(
      readFileSync(join(world.work, "trace.json"), "utf8"),
    );
  });
});

describe("trace recover", () => {
  async function killed(world: World): Promise<string> {
    const seconds = uniqueSeconds();
    const runner = world.start(["ci"], { env: { STEPS: job(seconds) } });
    await until(() => processesWith(`sleep ${seconds}`).length > 0);
    runner.kill("SIGKILL");
    await runner.ended;
    return seconds;
  }

  test("ends what is left of the job, in sessions of their own too", async () => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const steps = `[{name: a, script: 'setsid sleep ${seconds} & (setsid sh -c "sleep ${seconds}; true" &) ; echo up; sleep ${seconds}'}]`;
    const runner = world.start(["ci"], { env: { STEPS: steps } });
    await runner.printed("up");
    // Without the process that does it at once, as where there is no shell.
    for (const pid of processesWith(`reap ${runner.pid} `)) process.kill(pid, "SIGKILL");
    runner.kill("SIGKILL");
    await runner.ended;
    expect(processesWith(seconds).length).toBeGreaterThanOrEqual(3);
    const recovered = await world.run(["trace", "recover", "--output-file", "t.json"]);
    expect(recovered.stderr).toMatch(/ended \d+ processes/);
    expect(processesWith(seconds)).toEqual([]);
    expect(named(await readTrace(join(world.work, "t.json")), "a")?.det?.status).toBe("interrupted");
  });

  test("leaves a torn last line out and says so", async () => {
    const world = createWorld();
    await killed(world);
    const journal = join(world.runs()[0] as string, "trace.jsonl");
    const text = readFileSync(journal, "utf8");
    for (const torn of ['{"seq":99,"prev":"ab', "{", "\0\0\0\0"]) {
      writeFileSync(journal, text + torn);
      const recovered = await world.run(["trace", "recover", journal, "--output-file", "t.json"]);
      expect(recovered).toMatchObject({ code: 0, stderr: expect.stringContaining("its last line was cut off") });
      expect(verifyTrace(await readTrace(join(world.work, "t.json")))).toEqual([]);
    }
  });

  test("refuses a journal that was changed in the middle", async () => {
    const world = createWorld();
    await killed(world);
    const journal = join(world.runs()[0] as string, "trace.jsonl");
    const changed = readFileSync(journal, "utf8").replace("of one", "of ONE");
    writeFileSync(journal, changed);
    const recovered = await world.run(["trace", "recover", journal]);
    expect(recovered).toMatchObject({ code: 1, stdout: "" });
    expect(recovered.stderr).toMatch(/journal/i);
  });

  test("says so when there is nothing to recover", async () => {
    const world = createWorld();
    expect((await world.ci("[{name: a, script: 'true'}]")).code).toBe(0);
    for (const args of [[], ["./nowhere"]]) {
      const recovered = await world.run(["trace", "recover", ...args]);
      expect(recovered).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("Cannot find") });
    }
  });

  test("does not take a job that still runs", async () => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const runner = world.start(["ci"], { env: { STEPS: job(seconds) } });
    await until(() => processesWith(`sleep ${seconds}`).length > 0);
    expect((await world.run(["trace", "recover"])).code).toBe(1);
    const byPath = await world.run(["trace", "recover", world.runs()[0] as string]);
    expect(byPath).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("still runs") });
    expect(processesWith(`sleep ${seconds}`).length).toBeGreaterThan(0);
    runner.kill("SIGTERM");
    expect((await runner.ended).code).toBe(143);
  });

  test("makes the trace of a finished run again from its journal, byte by byte", async () => {
    const world = createWorld();
    await world.ci("[{name: a, script: 'echo hi'}, {name: b, script: 'exit 3'}]", ["--output-file", "first.json"]);
    const recovered = await world.run(["trace", "recover", join(world.runs()[0] as string, "trace.jsonl")]);
    expect(recovered.stdout).toBe(readFileSync(join(world.work, "first.json"), "utf8"));
  });

  test("finds the journal by a relative path and ends its processes", async () => {
    const world = createWorld();
    const seconds = await killed(world);
    expect((await world.run(["trace", "recover", "trace.jsonl"], { cwd: world.runs()[0] as string })).code).toBe(0);
    expect(processesWith(seconds)).toEqual([]);
  });
});
