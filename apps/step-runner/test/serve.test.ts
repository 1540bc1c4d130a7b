import { connect as connectHttp2 } from "node:http2";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { createWorld, processesWith, readAll, type Running, uniqueSeconds, until, type World } from "./harness.ts";

/** A call of our service in Connect's JSON over HTTP/2, through a socket. */
async function call(
  socket: string,
  method: string,
  request: object,
  token?: string,
): Promise<{ [key: string]: unknown }> {
  const session = connectHttp2("http://localhost", { createConnection: () => connect(socket) });
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": `/steps.v1.StepRunner/${method}`,
    "content-type": "application/json",
    "step-runner-job-token": token,
  });
  stream.end(JSON.stringify(request));
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  session.close();
  return JSON.parse(text) as { [key: string]: unknown };
}

async function statusOf(socket: string, id: string): Promise<string | undefined> {
  const { jobs } = (await call(socket, "List", { ids: [id] })) as { jobs?: { runStatus?: string }[] };
  return jobs?.[0]?.runStatus;
}

async function ended(socket: string, id: string): Promise<string> {
  for (;;) {
    const status = await statusOf(socket, id);
    if (status !== undefined) return status;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const READY = "step-runner is listening on socket ";

async function serve(world: World, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const runner = world.start(["serve", ...args], { env });
  await runner.printed(READY);
  return runner;
}

describe("step-runner serve", () => {
  test("prints the line that runners wait for, makes its socket for us alone, and ends with SIGTERM", async () => {
    const world = createWorld();
    const runner = await serve(world);
    const socket = join(world.stateDir, "service/step-runner.sock");
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(statSync(join(world.stateDir, "service")).mode & 0o777).toBe(0o700);
    const seconds = uniqueSeconds();
    await call(socket, "Run", { id: "a", ciScript: `sleep ${seconds} & (setsid sleep ${seconds} &); wait` });
    await until(() => processesWith(seconds).length >= 2);
    runner.kill("SIGTERM");
    const { stderr, ...end } = await runner.ended;
    expect(end).toEqual({ code: 0, signal: null, stdout: "" });
    expect(stderr.replace(/seconds=[\d.]+/, "seconds=N").split("\n")).toEqual([
      `${READY}${socket}`,
      "step-runner: Job started job=a",
      "step-runner: Ending the jobs that run jobs=1",
      "step-runner: Job is asked to end job=a",
      "step-runner: Job ended job=a status=cancelled exit_code=143 seconds=N code=CANCELLED",
      "",
    ]);
    expect(existsSync(socket)).toBe(false);
    expect(processesWith(seconds)).toEqual([]);
  });

  test("has nothing left of its jobs soon after it was killed, before anybody starts it again", async () => {
    const world = createWorld();
    const runner = await serve(world);
    const socket = join(world.stateDir, "service/step-runner.sock");
    const seconds = uniqueSeconds();
    for (const id of ["a", "b"])
      await call(socket, "Run", { id, ciScript: `sleep ${seconds} & (setsid sleep ${seconds} &); wait` });
    await until(() => processesWith(`sleep ${seconds}`).length >= 4);
    runner.kill("SIGKILL");
    await until(() => [...processesWith(seconds), ...processesWith(`reap ${runner.pid} `)].length === 0);
  });

  test("has its socket below XDG_RUNTIME_DIR, in a folder that is named, or where a flag or variable says", async () => {
    const world = createWorld();
    const cases: (readonly [string[], Record<string, string>, string])[] = [
      [[], { XDG_RUNTIME_DIR: join(world.dir, "xdg") }, join(world.dir, "xdg/step-runner/step-runner.sock")],
      [["folder"], {}, join(world.work, "folder/step-runner.sock")],
      [["--socket", "f/s.sock"], {}, join(world.work, "f/s.sock")],
      [[], { STEP_RUNNER_SOCKET: join(world.dir, "v/s.sock") }, join(world.dir, "v/s.sock")],
      [["folder"], { STEP_RUNNER_SOCKET: join(world.dir, "v/s.sock") }, join(world.work, "folder/step-runner.sock")],
    ];
    for (const [args, env, socket] of cases) {
      const runner = await serve(world, args, env);
      expect(await call(socket, "List", {})).toMatchObject({ runner: { name: "step-runner" } });
      runner.kill("SIGINT");
      expect((await runner.ended).stderr).toBe(`${READY}${socket}\n`);
    }
  });

  test("--idle-timeout ends it once nobody is connected and no job runs, and its jobs are known to the next one", async () => {
    const world = createWorld();
    const socket = join(world.work, "s.sock");
    const args = ["--socket", socket, "--idle-timeout", "2s"];
    const first = await serve(world, args);
    await call(socket, "Run", { id: "a", ciScript: "sleep 1; echo ok >done", workDir: world.work });
    expect(await first.ended).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(join(world.work, "done"), "utf8")).toBe("ok\n");
    const second = await serve(world, args);
    expect(await statusOf(socket, "a")).toBe("success");
    const open = connect(socket);
    await once(open, "connect");
    // Longer than a service without a connection would wait.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(second.child.exitCode).toBeNull();
    open.destroy();
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  test("refuses to be the second one", async () => {
    const world = createWorld();
    await serve(world, ["--socket", "s.sock"]);
    const second = await world.run(["serve", "--socket", "s.sock"]);
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toMatch(/^step-runner: A service is already running on socket ".*s\.sock"\n/);
    expect(await call(join(world.work, "s.sock"), "List", {})).toHaveProperty("instance");
  });

  test("after kill -9 tells the truth about the jobs that ran and those that had ended", async () => {
    const world = createWorld();
    const socket = join(world.work, "s.sock");
    const seconds = uniqueSeconds();
    const first = await serve(world, ["--socket", socket]);
    await call(socket, "Run", { id: "done", ciScript: "echo ok" });
    expect(await ended(socket, "done")).toBe("success");
    await call(socket, "Run", { id: "ran", ciScript: `sleep ${seconds}` });
    await until(() => processesWith(seconds).length > 0);
    first.kill("SIGKILL");
    await first.ended;
    expect(existsSync(socket)).toBe(true);
    await serve(world, ["--socket", socket]);
    expect([await statusOf(socket, "done"), await statusOf(socket, "ran")]).toEqual(["success", "interrupted"]);
    expect(processesWith(seconds)).toEqual([]);
  });

  test("takes components from where a flag says, and holds its jobs to a lock", async () => {
    const world = createWorld();
    const socket = join(world.work, "s.sock");
    mkdirSync(join(world.work, "steps"));
    writeFileSync(join(world.work, "steps/step.yml"), "{}\n---\nexec: {command: [touch, ran]}\n");
    writeFileSync(join(world.work, "steps.lock"), '{"lockVersion": 1, "components": []}\n');
    await serve(world, ["--socket", socket, "--component-source", "gitlab.com/group/project=.", "--locked"]);
    const run = async (id: string, step: string): Promise<string> => {
      await call(socket, "Run", { id, definition: JSON.stringify([{ name: "a", step }]), workDir: world.work });
      return await ended(socket, id);
    };
    expect(await run("sourced", "gitlab.com/group/project@v1")).toBe("success");
    expect(existsSync(join(world.work, "ran"))).toBe(true);
    expect(await run("other", "gitlab.com/group/other@v1")).not.toBe("success");
    const { jobs } = (await call(socket, "List", { ids: ["other"] })) as { jobs: { error?: { code?: string } }[] };
    expect(JSON.stringify(jobs)).toContain("NOT_LOCKED");
  });

  test("does not wait for the grace of its jobs after the second signal", async () => {
    const world = createWorld();
    const runner = await serve(world);
    const socket = join(world.stateDir, "service/step-runner.sock");
    const ciScript = `trap '' TERM; echo >up; while :; do sleep 0.05; done`;
    await call(socket, "Run", { id: "a", ciScript, grace: "600s" });
    await until(() => existsSync(join(world.work, "up")));
    runner.kill("SIGTERM");
    // The socket goes when the service has heard it.
    await until(() => !existsSync(socket));
    runner.kill("SIGTERM");
    expect(await runner.ended).toMatchObject({ code: 0 });
  });

  test("--require-token refuses jobs without one", async () => {
    const world = createWorld();
    const socket = join(world.work, "s.sock");
    await serve(world, ["--socket", socket, "--require-token"]);
    expect(await call(socket, "Run", { id: "a", ciScript: "true" })).toMatchObject({ code: "unauthenticated" });
    expect(await call(socket, "Run", { id: "a", ciScript: "true" }, "t")).toEqual({});
  });

  test("says nothing of requests and their secrets, in no file of its own either", async () => {
    const world = createWorld();
    const socket = join(world.work, "s.sock");
    const runner = await serve(world, ["--socket", socket]);
    const secret = "hunter2-hunter2-hunter2";
    const variables = [{ key: "T", value: secret, masked: true }];
    await call(socket, "Run", { id: "a", ciScript: "echo $T ${{ vars.T }}", env: { T: secret }, variables });
    await ended(socket, "a");
    await call(socket, "Run", { id: "b", definition: `- {nme: ${secret}}`, variables });
    runner.kill("SIGTERM");
    const { stderr } = await runner.ended;
    expect(stderr.split("\n")).toEqual([
      `${READY}${socket}`,
      "step-runner: Job started job=a",
      expect.stringMatching(/^step-runner: Job ended job=a status=success exit_code=0 seconds=[\d.]+$/),
      "",
    ]);
  });

  test("drains: jobs go on, new ones are refused, and every line of a log in JSON is an object without a secret", async () => {
    const world = createWorld();
    const socket = join(world.work, "s.sock");
    const env = { STEP_RUNNER_TOKEN: "token-of-the-port" };
    const args = ["--socket", socket, "--port", "0", "--log-format", "json", "--log-level", "debug"];
    const runner = world.start(["serve", ...args, "--drain-timeout", "10m"], { env });
    await runner.printed("http://");
    const secret = "hunter2-hunter2-hunter2";
    const variables = [{ key: "T", value: secret, masked: true }];
    const ciScript = `echo $T; until [ -e go ]; do sleep 0.02; done; echo ${secret} >&2; exit 3`;
    await call(socket, "Run", { id: "a", ciScript, env: { T: secret }, variables, workDir: world.work });
    runner.kill("SIGTERM");
    await runner.printed("Draining");
    expect(await call(socket, "Run", { id: "b", ciScript: "true", variables })).toMatchObject({ code: "unavailable" });
    expect(await statusOf(socket, "a")).toBeUndefined();
    writeFileSync(join(world.work, "go"), "");
    expect(await ended(socket, "a")).toBe("failure");
    await call(socket, "Close", { id: "a" });
    const { code, stderr } = await runner.ended;
    expect(code).toBe(0);
    for (const text of [secret, env.STEP_RUNNER_TOKEN]) expect(stderr).not.toContain(text);
    const lines = stderr.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      "step-runner is listening",
      "step-runner is listening",
      "Job started",
      "Draining: no new jobs are taken, and those that run go on",
      "Job was refused",
      "Job ended",
      "Job was closed",
    ]);
    expect(JSON.parse(lines[5] ?? "")).toMatchObject({ level: "info", job: "a", status: "failure", exit_code: 3 });
  });

  test("takes its flags from a file, which variables and the command line win over", async () => {
    const world = createWorld();
    mkdirSync(join(world.work, "etc"));
    writeFileSync(
      join(world.work, "etc/serve.yml"),
      "socket: s.sock\nlog-format: json\nrequire-token: true\nmax-jobs: 7\n",
    );
    const env = { STEP_RUNNER_LOG_FORMAT: "text" };
    await serve(world, ["--config", "etc/serve.yml", "--no-require-token"], env);
    const socket = join(world.work, "etc/s.sock");
    expect(await call(socket, "Run", { id: "a", ciScript: "true" })).toEqual({});
  });

  test("a second signal cancels what still runs while it drains", async () => {
    const world = createWorld();
    const socket = join(world.work, "s.sock");
    const runner = await serve(world, ["--socket", socket, "--drain-timeout", "10m"]);
    await call(socket, "Run", { id: "a", ciScript: "sleep 600" });
    runner.kill("SIGTERM");
    await runner.printed("Draining");
    runner.kill("SIGTERM");
    expect(await runner.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("status=cancelled") });
  });

  test("writes no token that it made into a log for programs", async () => {
    const { code, stderr } = await createWorld().run(["serve", "--port", "0", "--log-format", "json"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Set STEP_RUNNER_TOKEN")]);
  });

  test.each([
    [["--port", "70000"], 2],
    [["--port", "x"], 2],
    [["a", "b"], 2],
    [["--socket", `/tmp/${"x".repeat(120)}`], 1],
  ])("%j is refused", async (args, code) => {
    const { stderr, ...end } = await createWorld().run(["serve", ...args]);
    expect(end).toMatchObject({ code, stdout: "" });
    expect(stderr).toMatch(/^step-runner: /);
  });
});

describe("on a port", () => {
  /** The address is in what a command prints on standard error. */
  async function addressOf(runner: Running): Promise<string> {
    let text = "";
    runner.child.stderr?.on("data", (chunk: string) => (text += chunk));
    await runner.printed("step-runner is listening on http://");
    const address = () => /http:\/\/[\d.]+:\d+/.exec(text)?.[0] ?? "";
    await until(() => address() !== "" && text.includes("\n"));
    return address();
  }

  const list = (url: string, token: string) =>
    fetch(`${url}/steps.v1.StepRunner/List`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    });

  test("serve prints a token that it made, once", async () => {
    const world = createWorld();
    const runner = world.start(["serve", "--port", "0"]);
    await runner.printed(" with token ");
    runner.kill("SIGTERM");
    const { stderr } = await runner.ended;
    expect(stderr).toMatch(/\nstep-runner is listening on http:\/\/127\.0\.0\.1:\d+ with token [\w-]{32}\n$/);
  });

  test("ci takes --lenient for the step files that steps load", async () => {
    const world = createWorld();
    writeFileSync(join(world.work, "step.yml"), "spec: {}\n---\n{exec: {command: [echo, ran]}, unknown: 1}\n");
    const env = { STEPS: "[{name: a, step: ./}]", CI_JOB_ID: "78", CI_PROJECT_DIR: world.work };
    expect(await world.run(["ci", "--port", "0"], { env })).toMatchObject({ code: 2, stdout: "" });
    expect(await world.run(["ci", "--port", "0", "--lenient"], { env })).toMatchObject({ code: 0, stdout: "ran\n" });
  });

  test("ci runs STEPS where they can be followed, writes the trace, and exits as they do", async () => {
    const world = createWorld();
    const steps = "[{name: a, script: 'echo up; while [ ! -e go ]; do sleep 0.05; done; echo err >&2; exit 3'}]";
    const env = { STEPS: steps, STEP_RUNNER_TOKEN: "given", CI_JOB_ID: "77", CI_PROJECT_DIR: world.work };
    const runner = world.start(["ci", "--port", "0"], { env });
    const url = await addressOf(runner);
    await runner.printed("up\n");
    expect(await (await list(url, "given")).json()).toMatchObject({ jobs: [{ id: "77" }] });
    expect((await list(url, "other")).status).toBe(401);
    writeFileSync(join(world.work, "go"), "");
    const { code, stdout, stderr } = await runner.ended;
    expect([code, stdout]).toEqual([3, "up\n"]);
    expect(stderr).toMatch(/^step-runner is listening on http:\/\/127\.0\.0\.1:\d+\nerr\n/);
    expect(stderr).toContain("exit status 3");
    expect(JSON.parse(readFileSync(join(world.work, "trace.json"), "utf8"))).toHaveProperty("traceId");
    // Nobody could ask for its log any more.
    expect(readAll(join(world.stateDir, "service")).filter(({ path }) => path.includes("/jobs/"))).toEqual([]);
  });

  test("ci runs the same steps again, and beside others", async () => {
    const world = createWorld();
    const first = world.start(["ci", "--port", "0"], { env: { STEPS: "[{name: a, script: 'echo up; sleep 60'}]" } });
    await first.printed("up\n");
    for (const round of [1, 2, 3]) {
      const { code, stdout } = await world.ci("[{name: a, script: 'echo same'}]", ["--port", "0"]);
      expect([round, code, stdout]).toEqual([round, 0, "same\n"]);
    }
    first.kill("SIGTERM");
    expect(await first.ended).toMatchObject({ code: 143 });
  });

  test("ci says that its port is taken, also by another ci", async () => {
    const world = createWorld();
    const port = String(await freePort());
    await addressOf(world.start(["ci", "--port", port]));
    const { code, stderr } = await world.run(["ci", "--port", port]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Cannot listen on port ${port} of "127.0.0.1"`)]);
  });

  test("ci without STEPS serves until a signal", async () => {
    const world = createWorld();
    const runner = world.start(["ci", "--port", "0", "--insecure-any-client"]);
    expect((await list(await addressOf(runner), "")).status).toBe(200);
    runner.kill("SIGTERM");
    expect(await runner.ended).toMatchObject({ code: 0, stdout: "" });
  });

  test("the second signal does not wait for the grace of the job of ci", async () => {
    const world = createWorld();
    const env = { STEPS: `[{name: a, script: "trap 'echo told' TERM; echo up; while :; do sleep 0.05; done"}]` };
    const runner = world.start(["ci", "--port", "0", "--grace", "10m"], { env });
    await runner.printed("up\n");
    runner.kill("SIGINT");
    // Two signals at once may come in any order.
    await runner.printed("told\n");
    runner.kill("SIGTERM");
    const { code, stderr } = await runner.ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining("cancelled by SIGINT")]);
  });

  test("a signal cancels the job of ci", async () => {
    const world = createWorld();
    const env = { STEPS: "[{name: a, script: 'echo up; sleep 60'}]" };
    const runner = world.start(["ci", "--port", "0", "--grace", "1s"], { env });
    await runner.printed("up\n");
    runner.kill("SIGTERM");
    expect(await runner.ended).toMatchObject({ code: 143, stdout: "up\n" });
  });
});
