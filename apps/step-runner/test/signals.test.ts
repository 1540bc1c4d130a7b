import { execFileSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository, hasProgram, startGitHttpServer } from "@steps/testkit";
import { verifyTrace } from "@steps/trace";
import { describe, expect, onTestFinished, test } from "vitest";
import { createWorld, processesWith, readAll, readTrace, uniqueSeconds, until } from "./harness.ts";

const SIGNALS = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const;

describe("a signal to the runner", () => {
  test.each(SIGNALS)("%s ends the step and everything it started, with exit code %i", async (signal, code) => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const steps = `[{name: a, script: 'sleep ${seconds} & (setsid sleep ${seconds} &); echo up; sleep ${seconds}'}, {name: b, script: 'echo never'}]`;
    const runner = world.start(["ci", "--output-file", "trace.json"], { env: { STEPS: steps } });
    await runner.printed("up");
    runner.kill(signal);
    expect(await runner.ended).toMatchObject({ code, signal: null, stdout: "up\n" });
    expect(processesWith(seconds)).toEqual([]);
    const trace = await readTrace(join(world.work, "trace.json"));
    expect(verifyTrace(trace)).toEqual([]);
    expect(trace.root?.det?.status).toBe("cancelled");
    expect(trace.root?.children?.map((step) => step.det?.status)).toEqual(["cancelled"]);
  });

  test.each(SIGNALS.slice(0, 2))("%s kills a step that ignores TERM when its grace is over", async (signal, code) => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const steps = `[{name: a, script: 'trap "" TERM INT HUP; echo up; while true; do sleep ${seconds}; done'}]`;
    const runner = world.start(["ci", "--grace", "300ms", "--output-file", "trace.json"], { env: { STEPS: steps } });
    await runner.printed("up");
    runner.kill(signal);
    expect(await runner.ended).toMatchObject({ code, signal: null });
    expect(processesWith(seconds)).toEqual([]);
    expect((await readTrace(join(world.work, "trace.json"))).root?.det?.status).toBe("cancelled");
  });

  test("a step that ends by itself within its grace still writes its last words", async () => {
    const world = createWorld();
    const steps = `[{name: a, script: 'trap "echo bye; exit 3" TERM; echo up; while true; do sleep 0.02; done'}]`;
    const runner = world.start(["ci"], { env: { STEPS: steps } });
    await runner.printed("up");
    runner.kill("SIGTERM");
    expect(await runner.ended).toMatchObject({ code: 143, stdout: "up\nbye\n" });
  });

  test("ends a runner whose reader has stopped reading", async () => {
    const world = createWorld();
    const text = `stuck-${uniqueSeconds()}`;
    const steps = `[{name: a, script: 'yes ${text}'}]`;
    for (const how of ["socket", "pipe"] as const) {
      const args = ["ci", "--grace", "200ms", "--quiet", "--output-file", `${how}.json`];
      const runner =
        how === "socket"
          ? world.start(args, { env: { STEPS: steps } })
          : world.start(args, { env: { STEPS: steps }, stdio: ["ignore", stuckPipe(world.dir), "pipe"] });
      runner.child.stdout?.pause();
      await until(() => processesWith(text).length > 0 && logBytes(world.stateDir) > 100_000);
      runner.kill("SIGTERM");
      expect(await new Promise((fulfil) => runner.child.on("exit", fulfil))).toBe(143);
      expect(processesWith(`yes ${text}`)).toEqual([]);
      expect((await readTrace(join(world.work, `${how}.json`))).root?.det?.status).toBe("cancelled");
    }
  });

  test("two signals are as good as one", async () => {
    const world = createWorld();
    const runner = world.start(["ci"], { env: { STEPS: "[{name: a, script: 'echo up; sleep 300'}]" } });
    await runner.printed("up");
    runner.kill("SIGINT");
    runner.kill("SIGTERM");
    expect([130, 143]).toContain((await runner.ended).code);
  });
});

describe("--timeout", () => {
  test("ends the job with 124 and says so in the trace", async () => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const steps = `[{name: a, steps: [{name: b, script: 'sleep ${seconds} & sleep ${seconds}'}]}, {name: c, script: 'echo never'}]`;
    const ended = await world.ci(steps, ["--timeout", "400ms", "--output-file", "trace.json"]);
    expect(ended).toMatchObject({ code: 124, stdout: "", stderr: expect.stringContaining("timed out") });
    expect(processesWith(seconds)).toEqual([]);
    expect((await readTrace(join(world.work, "trace.json"))).root?.det?.status).toBe("timeout");
  });

  test("kills what ignores TERM after the grace time", async () => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const steps = `[{name: a, script: 'trap "" TERM; while true; do sleep ${seconds}; done'}]`;
    expect((await world.ci(steps, ["--timeout", "0.3s", "--grace", "200ms"])).code).toBe(124);
    expect(processesWith(seconds)).toEqual([]);
  });

  test("ends a runner whose reader has stopped reading", async () => {
    const world = createWorld();
    const text = `stuck-${uniqueSeconds()}`;
    const runner = world.start(["ci", "--grace", "200ms", "--timeout", "500ms"], {
      env: { STEPS: `[{name: a, script: 'yes ${text}'}]` },
    });
    runner.child.stdout?.pause();
    expect(await new Promise((fulfil) => runner.child.on("exit", fulfil))).toBe(124);
    expect(processesWith(`yes ${text}`)).toEqual([]);
  });
});

describe.skipIf(!hasProgram("git"))("while a fetch hangs", () => {
  test.each([...SIGNALS.slice(0, 2), ["timeout", 124]] as const)("%s ends it with %i", async (how, code) => {
    const world = createWorld();
    await createGitRepository(join(world.dir, "served/component"), {
      "step.yml": "spec: {}\n---\nexec: {command: [true]}\n",
    });
    await using server = await startGitHttpServer(join(world.dir, "served"), { onRequest: () => "hang" });
    const args = ["run", `git+${server.url}/component@main`, "--output-file", "trace.json", "--grace", "300ms"];
    const runner = world.start(how === "timeout" ? [...args, "--timeout", "4s"] : args);
    await until(() => server.requests.length > 0);
    if (how !== "timeout") runner.kill(how);
    expect(await runner.ended).toMatchObject({ code, signal: null });
    await until(() => processesWith(`${server.url}/component`).length === 0);
    const trace = await readTrace(join(world.work, "trace.json"));
    expect(trace.root?.det?.status).toBe(how === "timeout" ? "timeout" : "cancelled");
  });
});

function logBytes(stateDir: string): number {
  return readAll(stateDir).reduce((sum, file) => sum + (file.path.endsWith(".log") ? file.content.length : 0), 0);
}

/** The writing end of a named pipe that somebody, this process, has open and does not read. */
function stuckPipe(dir: string): number {
  const path = join(dir, "stuck");
  execFileSync("mkfifo", [path]);
  const fd = openSync(path, "r+");
  onTestFinished(() => closeSync(fd));
  return fd;
}
