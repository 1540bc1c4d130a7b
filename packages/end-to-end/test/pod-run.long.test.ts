import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createGitRepository, type WatchedProcess } from "@steps/testkit";
import { expect, test } from "vitest";
import { type Job, PodMachine } from "./pod-machine.ts";

interface World {
  readonly machine: PodMachine;
  /** The file with the runners of the machine. */
  readonly config: string;
  /** Runs the pipeline of a file, committed to a repository of its own. */
  readonly pipeline: (file: string, ...flags: readonly string[]) => Promise<WatchedProcess>;
  readonly jobs: () => Promise<readonly Job[]>;
}

/** A machine with a pod and a registered runner, which takes four jobs at once when it is started. */
async function world(settings: object = {}): Promise<World> {
  const machine = new PodMachine();
  const pod = await machine.serve(0);
  const { token } = await machine.ask<{ token: string }>("POST", "/api/pod/v1/runners", settings);
  await machine.run("runner-bridge", "register", "--url", pod.url, "--token", token);
  const config = join(machine.dir, "config/runner-bridge/runners.yml");
  writeFileSync(config, readFileSync(config, "utf8").replace(/^concurrent: 1$/m, "concurrent: 4"));
  let count = 0;
  return {
    machine,
    config,
    async pipeline(file, ...flags) {
      const repository = await createGitRepository(join(machine.dir, `project-${++count}`));
      await repository.commit({ ".gitlab-ci.yml": file });
      return machine.start("pod", "run", repository.dir, "--project", "top/app", ...flags);
    },
    jobs: async () => JSON.parse(await machine.run("pod", "jobs", "--report", "json")) as Job[],
  };
}

test("pod run: artifacts and variables are passed on, jobs are tried again, run always, on failure or by hand", async () => {
  const { machine, pipeline, jobs } = await world();
  machine.start("runner-bridge", "start");
  const running = await pipeline(
    `
stages: [build, test, deploy]
building:
  stage: build
  script: [mkdir out, 'echo made >out/file', 'echo VERSION=1.2.3 >build.env', 'echo "$CI_JOB_NAME of $CI_PROJECT_PATH"']
  artifacts: {paths: [out], reports: {dotenv: build.env}}
other: {stage: build, script: [mkdir elsewhere, 'echo else >elsewhere/file'], artifacts: {paths: [elsewhere]}}
use: {stage: test, needs: [building], script: ['cat out/file', 'test ! -e elsewhere', 'echo "version $VERSION"']}
picky: {stage: test, dependencies: [other], script: ['test ! -e out', 'cat elsewhere/file', 'echo "[$VERSION]"']}
flaky: {stage: test, retry: {max: 1, when: script_failure}, script: [exit 3], allow_failure: {exit_codes: [3]}}
broken: {stage: test, script: [exit 4]}
matrix: {stage: test, parallel: {matrix: [{A: [x, y]}]}, script: ['echo "A is $A"']}
hand: {stage: test, when: manual, script: [echo hand]}
never: {stage: test, when: manual, script: [echo never]}
clean: {stage: deploy, when: always, script: [echo clean]}
alarm: {stage: deploy, when: on_failure, script: [echo alarm]}
plain: {stage: deploy, script: [echo plain]}
`,
    "--start",
    "hand",
  );
  const { code, stdout, stderr } = await running.ended;
  for (const line of [
    "building | building of top/app",
    "use | made",
    "use | version 1.2.3",
    "picky | else",
    "picky | []",
    "matrix: [x] | A is x",
    "matrix: [y] | A is y",
    "hand | hand",
    "clean | clean",
    "alarm | alarm",
  ]) {
    expect(stdout.split("\n")).toContain(line);
  }
  const table = stderr.slice(stderr.indexOf("\n\n"));
  expect(table).toMatch(/^flaky +failed, allowed \(2 attempts\)/m);
  expect(table).toMatch(/^broken +failed .*exit code 4/m);
  expect(table).toMatch(/^never +skipped/m);
  expect(table).toMatch(/^plain +skipped/m);
  expect(code).toBe(4);

  const broken = (await jobs()).find(({ name }) => name === "broken");
  await machine.run("pod", "retry", String(broken?.id));
  const again = (await jobs()).find(({ name, id }) => name === "broken" && id !== broken?.id);
  expect(await machine.until(again?.id ?? 0, ({ state }) => state === "failed")).toMatchObject({ name: "broken" });
});

test("pod cancel: a job that says nothing ends gracefully, with its after_script", async () => {
  const { machine, pipeline, jobs } = await world();
  machine.start("runner-bridge", "start");
  const running = await pipeline(`silent: {script: [exec sleep 600], after_script: ['echo "after $CI_JOB_STATUS"']}`);
  const silent = await untilJob(jobs, ({ state, trace_size: size }) => state === "running" && size > 0);
  await machine.run("pod", "cancel", String(silent.id));
  const { code, stdout, stderr } = await running.ended;
  expect(stdout.split("\n")).toContain("silent | after canceled");
  expect(stderr).toMatch(/^silent +cancelled/m);
  expect(code).not.toBe(0);
});

test("protected runners take the jobs of protected pipelines alone", async () => {
  const { machine, pipeline, jobs } = await world({ protected: true });
  machine.start("runner-bridge", "start");
  await (
    await pipeline("open: {script: [echo open]}", "--no-follow")
  ).ended;
  expect(await (await pipeline("guarded: {script: [echo guarded]}", "--protected")).ended).toMatchObject({ code: 0 });
  const states = (await jobs()).map(({ name, state }) => `${name} ${state}`);
  expect(states).toEqual(["guarded success", "open pending"]);
});

test("a token that expires is exchanged, kept whole in the configuration, and used from then on", async () => {
  const { machine, config, pipeline } = await world({ token_lifetime: 7200 });
  // Three quarters of its time are over.
  const text = readFileSync(config, "utf8").replace(
    /^( +token_obtained_at: ).*$/m,
    `$1${new Date(Date.now() - 24 * 3600 * 1000).toISOString()}`,
  );
  writeFileSync(config, text);
  const tokenOf = (): string | undefined => /^ +token: (\S+)$/m.exec(readFileSync(config, "utf8"))?.[1];
  const before = tokenOf();
  machine.start("runner-bridge", "start");
  while (tokenOf() === before) await delay(50);
  expect(tokenOf()).toMatch(/^glrt-/);
  expect(statSync(config).mode & 0o777).toBe(0o600);
  expect(await (await pipeline("a: {script: [echo hi]}")).ended).toMatchObject({ code: 0 });
});

async function untilJob(
  jobs: World["jobs"],
  isSo: (job: Job & { readonly trace_size: number }) => boolean,
): Promise<Job> {
  for (;;) {
    const found = (await jobs()).find((job) => isSo(job as Job & { readonly trace_size: number }));
    if (found !== undefined) return found;
    await delay(200);
  }
}
