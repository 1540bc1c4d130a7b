import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { servePod, type ServedPod } from "@steps/pods";
import { createGitRepository, tempDir } from "@steps/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runSmallRunner } from "./small-runner.ts";

const stateDir = tempDir("pod-run-state-");
const stop = new AbortController();
let pod: ServedPod;
const runners: Promise<void>[] = [];

beforeAll(async () => {
  pod = await servePod({ stateDir, pollHoldMs: 500 }, { port: 0 });
  const reply = await fetch(`${pod.url}/api/pod/v1/runners`, {
    method: "POST",
    headers: { authorization: `Bearer ${pod.adminToken}` },
    body: JSON.stringify({ run_untagged: true }),
  });
  const { token } = (await reply.json()) as { token: string };
  for (let count = 0; count < 2; count++) runners.push(runSmallRunner(pod.url, token, stop.signal));
});

afterAll(async () => {
  stop.abort();
  await Promise.all(runners);
  await pod.stop();
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command, and interrupts it when its output has this text. */
async function podRun(args: readonly string[], interruptAt?: string): Promise<Ended> {
  const main = join(import.meta.dirname, "../src/main.ts");
  const flags = ["--conditions=steps-source", "--no-warnings", main, "run", "--state-dir", stateDir, ...args];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  let isInterrupted = false;
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      output[name] += chunk;
      if (interruptAt === undefined || isInterrupted || !output[name].includes(interruptAt)) return;
      isInterrupted = true;
      child.kill("SIGINT");
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...output };
}

function projectWith(text: string): string {
  const folder = tempDir("pod-run-");
  writeFileSync(join(folder, ".gitlab-ci.yml"), text);
  return folder;
}

describe("pod run", () => {
  test("runs the jobs of a file by the runners of a pod, and exits with the code of the one that failed", async () => {
    const folder = projectWith(`
stages: [build, test, deploy]
build: {stage: build, script: ['echo "building $WHO in $CI_JOB_NAME"']}
unit: {stage: test, script: [echo unit], parallel: 2}
flaky: {stage: test, script: [exit 3], allow_failure: {exit_codes: [3]}}
broken: {stage: test, script: [exit 7]}
deploy: {stage: deploy, script: [echo never]}
hand: {stage: test, script: [echo hand], when: manual}
`);
    const { code, stdout, stderr } = await podRun([folder, "--variable", "WHO=you"]);
    expect(stdout).toContain("build | building you in build\n");
    expect(stderr).toContain("build: passed");
    const table = stderr.slice(stderr.indexOf("\n\n")).replaceAll(/ {2,}\d[\d.]* ?m?s/g, "");
    for (const row of [
      "build     passed",
      "unit 1/2  passed",
      "unit 2/2  passed",
      "flaky     failed, allowed",
      "broken    failed",
    ]) {
      expect(table).toContain(row);
    }
    expect(table).toMatch(/deploy +skipped/);
    expect(table).toMatch(/hand +skipped +It is started by hand/);
    expect(code).toBe(7);
  });

  test("tells once, below the table, the end of the output of a job that failed", async () => {
    const { code, stderr } = await podRun([projectWith("a: {script: [seq 30, exit 3]}\n"), "--progress", "plain"]);
    expect(code).toBe(3);
    const [, explained] = stderr.split("a: exit code 3\n");
    const lines = Array.from({ length: 10 }, (_, i) => `  | ${i + 21}\n`).join("");
    expect(explained).toMatch(/^  the end of its output:\n(?:  \| \d+\n){10}  hint: pod trace \d+ shows all of it\n$/);
    expect(explained).toContain(lines);
  });

  test("prints a report for programs, and nothing else on standard output", async () => {
    const folder = projectWith("a: {script: [echo hi]}\nb: {script: [echo hand], when: manual}\n");
    const { code, stdout } = await podRun([folder, "--start", "b", "--report", "json", "--project", "group/app"]);
    expect(code).toBe(0);
    const { result, jobs } = JSON.parse(stdout) as { result: string; jobs: { job: string; result: string }[] };
    expect(result).toBe("success");
    const rows = jobs.map(({ job, result }) => `${job} ${result}`);
    expect(rows.toSorted()).toEqual(["a success", "b success"]);
  });

  test("cancels the pipeline when it is interrupted, and sees it end", async () => {
    const folder = projectWith("a: {script: [exec sleep 60]}\nb: {stage: deploy, script: [echo never]}\n");
    const { code, stderr } = await podRun([folder], "a: started");
    expect(code).toBe(130);
    expect(stderr).toContain("a: cancelled");
    expect(stderr).toMatch(/b +cancelled/);
  });

  test("says what is wrong with the file, and creates nothing", async () => {
    const folder = projectWith("a: {script: [x], id_tokens: {T: {aud: a}}}\n");
    const { code, stderr } = await podRun([folder]);
    expect(code).toBe(2);
    expect(stderr).toContain('The job "a" has "id_tokens": a pod makes no ID tokens');
    expect((await podRun([join(folder, "none.yml")])).stderr).toContain(
      "Name a CI file, a folder with one, or a repository.",
    );
  });

  test("runs the pipeline of a repository, whose commit the jobs are told", async () => {
    const repository = await createGitRepository(join(tempDir("pod-run-git-"), "project"));
    const sha = await repository.commit({
      ".gitlab-ci.yml": "a: {script: ['echo $CI_COMMIT_SHA $CI_REPOSITORY_URL']}\n",
    });
    const url = `file://${repository.dir}`;
    const { code, stdout, stderr } = await podRun([url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    expect(stdout).toBe(`a | ${sha} ${url}\n`);
  });

  test("--no-follow prints the id of the pipeline", async () => {
    const { code, stdout } = await podRun([projectWith("a: {script: [echo hi]}\n"), "--no-follow"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\n$/) });
  });
});
