import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createGitRepository, hasProgram, startGitHttpServer } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { createWorld, processesWith, readTrace, type World } from "./harness.ts";

const HELLO = resolve(import.meta.dirname, "../../../examples/hello");

function helloWorld(): World {
  const world = createWorld();
  cpSync(HELLO, world.work, { recursive: true, filter: (path) => !path.endsWith("trace.json") });
  return world;
}

describe("examples/hello", () => {
  test("hello-world runs its list of steps", async () => {
    const world = helloWorld();
    const ended = await world.run(["local", "--job-name", "hello-world", "--output-file", "trace.json"]);
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: "hello world\nThe step before said hello world\n" });
    expect((await readTrace(join(world.work, "trace.json"))).root?.det?.status).toBe("success");
  });

  test("hello-steps starts the command by its absolute name, and that one leaves the trace", async () => {
    const world = helloWorld();
    const ended = await world.run([
      "local",
      ".gitlab-ci.yml",
      "--format",
      "gitlab-ci",
      "--job-name",
      "hello-steps",
      "--in-place",
    ]);
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("hello steppy\n") });
    const trace = await readTrace(join(world.work, "trace.json"));
    expect(trace.request?.entry).toBe("ci");
    expect(world.runs().length).toBe(2);
  });

  test("hello-script runs before_script, script and after_script with its variables", async () => {
    const world = helloWorld();
    const ended = await world.run(["local", "--job-name", "hello-script"]);
    expect(ended, ended.stderr).toMatchObject({
      code: 0,
    });
    const printed = ended.stdout.split("\n").filter((text) => text !== "" && !text.startsWith("$ "));
    expect(printed).toEqual(["before", "hello from a script", "after, the job was a success"]);
    const shell = await world.run([
      "local",
      "--job-name",
      "hello-script",
      "--variable",
      "GREETING=bye,NAME=$GREETING all",
    ]);
    expect(shell.stdout).toContain("bye");
  });

  test("a job that is not there, or not named where there are several, is said with those that are", async () => {
    const world = helloWorld();
    expect(await world.run(["local"])).toMatchObject({ code: 2, stderr: expect.stringContaining("hello-script") });
    const wrong = await world.run(["local", "--job-name", "hello-wrld"]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("hello-world") });
    expect((await world.run(["local", "no-such-file.yml"])).code).not.toBe(0);
  });

  test("the file is found upward from the current folder, up to the top of the repository", async () => {
    const world = helloWorld();
    const inner = join(world.work, "src", "deep");
    mkdirSync(inner, { recursive: true });
    const ended = await world.run(["local", "--job-name", "hello-world"], { cwd: inner });
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("hello world\n") });
    const compiled = await world.run(["compile", "--job-name", "hello-world"], { cwd: inner });
    expect(compiled, compiled.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("steps") });
    mkdirSync(join(world.work, "src", ".git"));
    expect(await world.run(["local", "--job-name", "hello-world"], { cwd: inner })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("There is no .gitlab-ci.yml here or in a folder above"),
    });
  });
});

describe.skipIf(!hasProgram("git"))("the example of the product", () => {
  const JOB = `
hello-world:
  image: registry.gitlab.com/gitlab-org/step-runner
  variables:
    STEPS: |
      - step: gitlab.com/josephburnett/component-hello-steppy@master
        inputs:
          greeting: "hello \${{ env.name }}"
        env:
          name: world
  script:
    - /step-runner ci
  artifacts:
    paths:
      - trace.json
`;
  const STEP = `spec:
  inputs:
    greeting:
      type: string
---
exec:
  command: [echo, "\${{ inputs.greeting }}"]
`;

  test.each(["step.yml", "steps/step.yml"])("runs with its component's %s, and can be replayed", async (path) => {
    const world = createWorld();
    const root = join(world.dir, "served");
    const repository = await createGitRepository(join(root, "josephburnett/component-hello-steppy"), { [path]: STEP });
    await repository.branch("master");
    await using server = await startGitHttpServer(root);
    writeFileSync(join(world.work, ".gitlab-ci.yml"), JOB);
    const env = { STEP_RUNNER_MIRROR: `https://gitlab.com/=${server.url}/`, STEP_RUNNER_EXECUTOR: "host" };
    const ended = await world.run(["local", "--job-name", "hello-world", "--in-place"], { env });
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("\nhello world\n") });
    expect(readFileSync(join(world.work, "trace.json"), "utf8")).toContain(
      "https://gitlab.com/josephburnett/component-hello-steppy",
    );
    await server.close();
    const replayed = await world.run(["replay", "trace.json"]);
    expect(replayed, replayed.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("hello world\n") });
  });

  test("takes --mirror of the outer command to the inner one", async () => {
    const world = createWorld();
    const root = join(world.dir, "served");
    const repository = await createGitRepository(join(root, "josephburnett/component-hello-steppy"), {
      "step.yml": STEP,
    });
    await repository.branch("master");
    await using server = await startGitHttpServer(root);
    writeFileSync(join(world.work, ".gitlab-ci.yml"), JOB);
    const mirror = `https://gitlab.com/=${server.url}/`;
    const flags = ["--executor", "host", "--mirror", mirror, "--cache-dir", join(world.dir, "elsewhere")];
    const ended = await world.run(["local", "--job-name", "hello-world", ...flags]);
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("\nhello world\n") });
    expect(existsSync(join(world.dir, "elsewhere"))).toBe(true);
    expect(existsSync(world.cacheDir) && existsSync(join(world.cacheDir, "trees"))).toBe(false);
  });
});

describe("a step-runner inside a script", () => {
  test("is found as step-runner and as /step-runner, and its failure is the job's", async () => {
    const world = createWorld();
    const inner = "[{name: inner, script: 'echo inner; exit 6'}]";
    for (const name of ["step-runner", "/step-runner"]) {
      writeFileSync(
        join(world.work, "ci.yml"),
        JSON.stringify({ job: { variables: { STEPS: inner }, script: [`${name} ci`] } }),
      );
      const ended = await world.run(["local", "ci.yml"]);
      expect(ended, ended.stderr).toMatchObject({ code: 6, stdout: expect.stringContaining("\ninner\n") });
    }
  });

  test("three deep, and cancelled with all it started", async () => {
    const world = createWorld();
    const script = `echo deep; exec sleep 599.${process.pid}`;
    const level = (text: string) => JSON.stringify([{ name: "n", script: text }]);
    writeFileSync(join(world.work, "a.json"), level(script));
    writeFileSync(join(world.work, "b.json"), level('step-runner run --json "$(cat a.json)"'));
    writeFileSync(
      join(world.work, "ci.yml"),
      JSON.stringify({ job: { script: ['step-runner run --json "$(cat b.json)"'] } }),
    );
    const runner = world.start(["local", "ci.yml"]);
    await runner.printed("deep");
    runner.kill("SIGTERM");
    expect((await runner.ended).code).toBe(143);
    expect(processesWith(`sleep 599.${process.pid}`)).toEqual([]);
  });
});
