import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
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
