import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createGitRepository, hasProgram, startGitHttpServer, startSshServer, tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandOf, killAll, processesOf, whatIsLeft } from "../src/kit/processes.ts";
import { BIN, createRunner, numbersIn, numbersTo, type RunnerWorld, scriptJob } from "./runner-harness.ts";

/** Counts to 600 in about three seconds, and says so in a file, where a second run would be seen. */
const COUNT = [
  "echo run >>runs",
  "i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo n$i; [ $((i % 20)) = 0 ] && sleep 0.1; done",
  "cat runs",
];

async function stopped(runner: ReturnType<RunnerWorld["start"]>): Promise<string> {
  runner.child.kill("SIGTERM");
  const { code, stderr } = await runner.ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining("Ended success=")]);
  return stderr;
}

describe("runner-bridge start", () => {
  test("runs a job of scripts as gitlab-runner does: variables, masks, after_script, artifacts, cache, exit code", async () => {
    const world = await createRunner();
    const { server } = world;
    const job = server.queue(
      scriptJob(1, ["echo $SECRET $GREETING", "cat $FILE; echo; mkdir out; echo a >out/a; echo r >r.xml", "exit 3"], {
        variables: [
          { key: "GIT_STRATEGY", value: "none" },
          { key: "SECRET", value: "hunter2hunter2", masked: true },
          { key: "NAME", value: "you" },
          { key: "GREETING", value: "hello $NAME" },
          { key: "FILE", value: "of a file", file: true },
        ],
        steps: [
          {
            name: "script",
            script: ["echo $SECRET $GREETING", "cat $FILE; echo", "mkdir out; echo r >r.xml", "exit 3"],
          },
          { name: "after_script", script: ["echo after: $CI_JOB_STATUS"] },
        ],
        artifacts: [
          { name: "files", paths: ["out/"], when: "on_success" },
          { paths: ["r.xml"], artifact_type: "junit", artifact_format: "gzip", when: "always", expire_in: "1 week" },
        ],
      }),
    );
    const runner = world.start();
    const end = await server.until(() => job.end);
    expect(end).toMatchObject({ state: "failed", exit_code: 3, failure_reason: "script_failure" });
    const trace = job.trace.toString();
    expect(trace).toContain("\n[MASKED] hello you\n");
    expect(trace).toContain("\nof a file\n");
    expect(trace).toContain("\nafter: failed\n");
    expect(trace).toMatch(/ERROR: Job failed: exit code 3\S*\n$/);
    expect(trace).not.toContain("hunter2");
    expect(job.uploads.map(({ name, query }) => [name, query.get("artifact_type"), query.get("expire_in")])).toEqual([
      ["junit.gz", "junit", "1 week"],
    ]);
    expect(gunzipSync(job.uploads[0]?.file ?? Buffer.alloc(0)).toString()).toBe("r\n");
    expect(job.states).toEqual(["running", "failed"]);
    await stopped(runner);
    expect(server.complaints).toEqual([]);
    expect(world.kept()).toEqual([]);
    expect(await whatIsLeft(world.dir, 10_000)).toEqual([]);
  });

  test("checks the commit out by the refspecs of the payload, and passes artifacts on by the server", async () => {
    const world = await createRunner();
    const { server } = world;
    const root = tempDir();
    const repository = await createGitRepository(join(root, "project"), { "README.md": "of the project\n" });
    await using git = await startGitHttpServer(root);
    const source = {
      repo_url: `${git.url}/project.git`,
      sha: await repository.revision(),
      ref: "main",
      refspecs: ["+refs/heads/*:refs/remotes/origin/*"],
      depth: 1,
    };
    const first = server.queue(
      scriptJob(1, ["cat README.md", "mkdir dist && echo made >dist/file"], {
        git_info: source,
        variables: [],
        artifacts: [{ name: "dist", paths: ["dist/"] }],
      }),
    );
    const runner = world.start();
    await server.until(() => first.end);
    expect(first.trace.toString()).toContain("\nof the project\n");
    expect(first.end).toMatchObject({ state: "success" });
    server.setArchive(1, first.uploads[0]?.file ?? Buffer.alloc(0));
    const second = server.queue(
      scriptJob(2, ["cat dist/file"], {
        git_info: source,
        variables: [],
        dependencies: [
          { id: 1, name: "job 1", token: "glcbt-job-2", artifacts_file: { filename: "dist.zip", size: 1 } },
        ],
      }),
    );
    await server.until(() => second.end);
    expect(second.trace.toString()).toContain("\nmade\n");
    expect(second.end).toMatchObject({ state: "success" });
    await stopped(runner);
  });

  test("runs the list of steps of a job with run", async () => {
    const world = await createRunner();
    const run = JSON.stringify([{ name: "hello", script: "echo from a step" }]);
    const { steps: _, ...payload } = scriptJob(1, []);
    const job = world.server.queue({ ...payload, run });
    const runner = world.start();
    await world.server.until(() => job.end);
    expect(job.end).toMatchObject({ state: "success" });
    expect(job.trace.toString()).toContain("\nfrom a step\n");
    await stopped(runner);
  });

  test("killed again and again, it finds its job: no byte is lost or repeated, and nothing runs twice", async () => {
    const world = await createRunner();
    const job = world.server.queue(scriptJob(1, COUNT));
    for (const least of [20, 150, 300]) {
      const runner = world.start();
      await world.server.until(() => numbersIn(job.trace).length >= least);
      runner.child.kill("SIGKILL");
      await runner.ended;
    }
    const runner = world.start();
    await world.server.until(() => job.end);
    expect(job.end).toMatchObject({ state: "success" });
    expect(numbersIn(job.trace)).toEqual(numbersTo(600));
    expect(job.trace.toString().match(/^run$/gmu)).toHaveLength(1);
    expect(job.claims).toBe(1);
    await stopped(runner);
    expect(world.server.complaints).toEqual([]);
    expect(world.kept()).toEqual([]);
    expect(await whatIsLeft(world.dir, 10_000)).toEqual([]);
  });

  test("killed while its job ends, it tells the end that the service knows", async () => {
    const world = await createRunner();
    const [go, gone] = [join(world.dir, "go"), join(world.dir, "gone")];
    const script = ["echo n1", `until [ -e ${go} ]; do sleep 0.1; done`, "echo n2", `touch ${gone}`, "exit 7"];
    const job = world.server.queue(scriptJob(1, script));
    const first = world.start();
    await world.server.until(() => numbersIn(job.trace).length > 0);
    first.child.kill("SIGKILL");
    await first.ended;
    writeFileSync(go, "");
    await expect.poll(() => existsSync(gone), { timeout: 60_000 }).toBe(true);
    // In most cases the service has noted the end before somebody looks again; it has to be told all the same in any.
    await new Promise((done) => setTimeout(done, 1000));
    const runner = world.start();
    await world.server.until(() => job.end);
    expect(job.end).toMatchObject({ state: "failed", exit_code: 7 });
    expect(numbersIn(job.trace)).toEqual(["n1", "n2"]);
    await stopped(runner);
  });

  test("a service that is killed with its job is told, and the job does not run again", async () => {
    const world = await createRunner();
    const job = world.server.queue(scriptJob(1, ["echo run >>runs", "echo n1", "sleep 60"]));
    const runner = world.start();
    await world.server.until(() => numbersIn(job.trace).length > 0);
    const [folder = ""] = world.kept();
    const record = readFileSync(join(world.dir, "state/runner-bridge/runner/jobs", folder, "job.json"), "utf8");
    const { place } = JSON.parse(record) as { place: { process: string } };
    process.kill(Number(place.process.split(".")[2]), "SIGKILL");
    await world.server.until(() => job.end);
    expect(job.end).toMatchObject({ state: "failed", failure_reason: "runner_system_failure" });
    const runs = join(world.dir, "state/runner-bridge/runner/builds/double-o/0/group/project/runs");
    expect(readFileSync(runs, "utf8")).toBe("run\n");
    await stopped(runner);
  });

  test("a job begins only when its acknowledgement was answered with 200", async () => {
    const world = await createRunner();
    const job = world.server.queue(scriptJob(1, ["echo n1"]));
    let refusals = 0;
    world.server.fault = ({ method }, response) => {
      if (method !== "PUT" || refusals === 6) return false;
      refusals += 1;
      response.writeHead(500).end();
      return true;
    };
    const runner = world.start();
    await world.server.until(() => refusals === 6);
    expect(world.server.requests.filter((request) => request.startsWith("PATCH"))).toEqual([]);
    await world.server.until(() => job.end);
    expect(job.end).toMatchObject({ state: "success" });
    await stopped(runner);
  });

  test("a job that is another's when it is acknowledged is dropped", async () => {
    const world = await createRunner();
    world.server.queue(scriptJob(1, ["echo n1"]));
    world.server.fault = ({ method }, response) => {
      if (method === "PUT") response.writeHead(403, { "job-status": "running" }).end();
      return method === "PUT";
    };
    const runner = world.start();
    await runner.printed("Job is not ours any more job=1 ");
    expect(await stopped(runner)).toContain(" not-ours=1 ");
    expect(world.kept()).toEqual([]);
  });

  test.each([
    ["canceling", true],
    ["canceled", false],
  ])("a job whose status becomes %s is cancelled; after_script and the end are told: %s", async (status, tells) => {
    const world = await createRunner();
    const steps = [
      { name: "script", script: ["echo n1", "while :; do echo more; sleep 0.2; done"] },
      { name: "after_script", script: ["echo after $CI_JOB_STATUS"] },
    ];
    const job = world.server.queue(scriptJob(1, [], { steps }));
    const runner = world.start();
    await world.server.until(() => numbersIn(job.trace).length > 0);
    job.status = status;
    await runner.printed("Job failed job=1 ");
    expect(job.end === undefined).toBe(!tells);
    if (tells) expect(job.trace.toString()).toContain("after canceled");
    await stopped(runner);
    expect(await whatIsLeft(world.dir, 15_000)).toEqual([]);
  });

  test("TERM drains: no more jobs are taken, and the one that runs is waited for; a second TERM cancels it", async () => {
    const world = await createRunner("--concurrent", "2");
    const gate = join(world.dir, "gate");
    const short = world.server.queue(scriptJob(1, ["echo n1", `while ! [ -e ${gate} ]; do sleep 0.05; done`]));
    const long = world.server.queue(scriptJob(2, ["echo n1", "sleep 60"]));
    const runner = world.start();
    await world.server.until(() => numbersIn(short.trace).length > 0 && numbersIn(long.trace).length > 0);
    runner.child.kill("SIGTERM");
    await runner.printed("Waiting for jobs that run jobs=2");
    writeFileSync(gate, "");
    await world.server.until(() => short.end);
    expect(short.end).toMatchObject({ state: "success" });
    runner.child.kill("SIGTERM");
    const { code, stderr } = await runner.ended;
    expect(long.end).toMatchObject({ state: "failed" });
    expect([code, stderr]).toEqual([0, expect.stringContaining("Ended success=1 failed=1 ")]);
  });

  test("two processes with one state directory do not take each other's jobs", async () => {
    const world = await createRunner();
    const first = world.start();
    await first.printed("Taking jobs runners=1 ");
    const { code, stderr } = await world.start().ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining("Another process takes jobs")]);
    await stopped(first);
  });
});

describe.skipIf(!hasProgram("sshd", "/usr/sbin"))("the ssh executor", () => {
  test("starts the service of another machine, and finds its jobs again after a kill, a cut and a killed service", async () => {
    const machine = tempDir("machine-");
    onTestFinished(() => killAll(processesOf(machine)));
    const env = `STEP_RUNNER_STATE_DIR=${machine}/state XDG_RUNTIME_DIR=${machine}/run PATH=${BIN}:${process.env["PATH"]}`;
    await using host = await startSshServer({ config: [`SetEnv ${env}`] });
    const world = await createRunner("--executor", "ssh", "--ssh-host", `${host.user}@${host.host}:${host.port}`);
    const file = join(world.dir, "config/runner-bridge/runners.yml");
    const lines = [
      `      identity_files: [${host.identityFile}]`,
      `      known_hosts_file: ${host.knownHostsFile}`,
      `    builds_dir: ${join(world.dir, "builds")}`,
      `    cache_dir: ${join(world.dir, "caches")}`,
    ];
    writeFileSync(file, readFileSync(file, "utf8").replace(/^( {4}ssh:\n {6}host: .*)$/mu, `$1\n${lines.join("\n")}`));
    const job = world.server.queue(scriptJob(1, COUNT));
    const first = world.start();
    await world.server.until(() => job.end ?? numbersIn(job.trace).length >= 50);
    expect(job.end).toBeUndefined();
    first.child.kill("SIGKILL");
    await first.ended;
    const runner = world.start();
    await world.server.until(() => numbersIn(job.trace).length >= 200);
    host.cut();
    await world.server.until(() => job.end);
    expect(job.end).toMatchObject({ state: "success" });
    expect(numbersIn(job.trace)).toEqual(numbersTo(600));
    expect(job.trace.toString().match(/^run$/gmu)).toHaveLength(1);
    const lost = world.server.queue(scriptJob(2, [`echo run >>${machine}/runs`, "echo n1; sleep 600"]));
    await world.server.until(() => numbersIn(lost.trace).length > 0);
    killAll(processesOf(machine).filter((pid) => commandOf(pid).includes(" serve ")));
    await world.server.until(() => lost.end);
    expect(lost.end).toMatchObject({ state: "failed", failure_reason: "runner_system_failure" });
    expect(readFileSync(join(machine, "runs"), "utf8")).toBe("run\n");
    await stopped(runner);
  });
});
