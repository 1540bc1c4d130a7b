import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMAND, createWorld } from "./harness.ts";

const LIST = "[{name: a, exec: {command: [env]}}]";

test("a step sees PATH, HOME and what is named, and nothing else of the runner's", async () => {
  const world = createWorld();
  const env = {
    CANARY: "c4nary",
    AWS_SECRET: "c4nary",
    CI_JOB_ID: "c4nary",
    NODE_OPTIONS: "",
    STEP_RUNNER_CANARY: "c4nary",
    LANG: "C",
  };
  const ended = await world.ci(LIST, ["--quiet"], { env });
  expect(ended).toMatchObject({ code: 0, stdout: expect.not.stringContaining("c4nary") });
  const names = ended.stdout
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0]);
  expect(names.toSorted()).toEqual(["CI_STEPS_LOG_LEVEL", "HOME", "LANG", "PATH", "STEP_RUNNER_COOKIE"]);
  const named = await world.run(["run", "--json", LIST, "--env", "CANARY=given", "--quiet"], { env });
  expect(named.stdout).toContain("CANARY=given\n");
});

test("a step finds no variable of the runner in any process", async () => {
  const world = createWorld();
  const script = `for file in /proc/[0-9]*/environ; do cat $file 2>/dev/null | tr '\\0' '\\n' | grep -a c4nary | sed "s|^|$file |" || true; done; echo looked; tr -d '\\0' <"/proc/$PPID/environ" | wc -c`;
  const env = {
    STEPS: JSON.stringify([
      { name: "a", script },
      { name: "b", script, env: { MINE: "${{ vars.CI_HOST }}" } },
    ]),
    CI_HOST: "nothing",
    CI_JOB_TOKEN: "c4nary-token",
    AWS_SECRET: "c4nary-aws",
    STEP_RUNNER_SECRET: "DEPLOY=c4nary-deploy",
    LINES: "one\nc4nary-lines\n",
    CI_EMPTY: "",
  };
  const ended = await world.run(["ci", "--quiet"], { env });
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  // The search is one that finds: what the step itself was given can be seen.
  expect(ended.stdout).toBe("looked\n0\nlooked\n0\n");
  const found = await world.ci(JSON.stringify([{ name: "a", script, env: { MINE: "c4nary-own" } }]), ["--quiet"]);
  expect(found.stdout).toContain("MINE=c4nary-own\n");
});

test("a service's steps find no variable of the service in any process", async () => {
  const world = createWorld();
  // An engine may read where its certificates are when it connects for the first time, and only then.
  const env = { SERVICE_SECRET: "c4nary-service", SSL_CERT_FILE: "/etc/ca.pem" };
  const service = world.start(["serve", "--socket", join(world.dir, "s.sock")], { env });
  await service.printed("listening");
  const shown = readFileSync(`/proc/${service.pid}/environ`, "latin1").replaceAll("\0", "");
  expect(shown).toBe("SSL_CERT_FILE=/etc/ca.pem");
  service.kill("SIGTERM");
  await service.ended;
});

test("a step sees no variable of the job unless it names it", async () => {
  const world = createWorld();
  const steps = "[{name: a, exec: {command: [env]}, env: {MINE: '${{ vars.CI_THING }}'}}]";
  const ended = await world.ci(steps, ["--quiet"], { env: { CI_THING: "thing" } });
  expect(ended.stdout).toContain("MINE=thing\n");
  expect(ended.stdout).not.toContain("CI_THING");
});

test("a step inherits no descriptor and has nothing on its standard input", async () => {
  const world = createWorld();
  writeFileSync(join(world.work, "secret-file"), "c4nary\n");
  const steps = `[{name: a, script: 'for fd in /proc/self/fd/*; do readlink $fd || true; done; echo "input: $(cat | wc -c)"'}]`;
  const child = spawn("bash", ["-c", '"$SR" ci --quiet 3<secret-file 9<secret-file <secret-file'], {
    cwd: world.work,
    env: { ...world.env, STEPS: steps, SR: COMMAND },
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  expect(await new Promise((fulfil) => child.on("close", fulfil))).toBe(0);
  expect(text).not.toContain("secret-file");
  expect(text).toContain("input: 0\n");
});

test("TZ, umask and the current directory are the caller's", async () => {
  const world = createWorld();
  const ended = await world.ci("[{name: a, script: 'pwd; date +%Z'}]", ["--quiet"], { env: { TZ: "UTC" } });
  expect(ended.stdout).toBe(`${world.work}\nUTC\n`);
});
