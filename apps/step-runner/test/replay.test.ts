import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository, type GitRepository, hasProgram, startGitHttpServer } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { createWorld, type Ended, readTrace, uniqueSeconds, type World } from "./harness.ts";

/** Every run appends a line, so that a test can tell whether anything ran. */
const MARK = 'echo x >>"$HOME/ran";';

function timesRun(world: World): number {
  const path = join(world.dir, "home/ran");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
}

async function record(world: World, steps: string, args: readonly string[] = []): Promise<void> {
  const ended = await world.ci(steps, ["--output-file", "trace.json", "--quiet", ...args]);
  expect(ended.code, ended.stderr).toBe(0);
}

const replay = (world: World, ...args: string[]): Promise<Ended> => world.run(["replay", "trace.json", ...args]);

interface Report {
  readonly verdict: string;
  readonly exitCode: number;
  readonly reasons: readonly string[];
  readonly differences: readonly { readonly pointer: string; readonly step: string; readonly severity: string }[];
}

const reportOf = (ended: Ended): Report => JSON.parse(ended.stdout) as Report;

describe("the verdict on a job", () => {
  test("0: it is the same, also from another folder", async () => {
    const world = createWorld();
    await record(world, `[{name: a, script: '${MARK} echo hi; echo v=1 >>"$STEP_OUTPUT_FILE"; pwd >/dev/null'}]`);
    expect(await replay(world)).toMatchObject({ code: 0, stdout: expect.stringContaining("hi\nReplay: The same") });
    const other = join(world.dir, "other");
    mkdirSync(other);
    const trace = join(world.work, "trace.json");
    expect((await world.run(["replay", trace, "--work-dir", other], { cwd: "/" })).code).toBe(0);
    expect(timesRun(world)).toBe(3);
    expect((await replay(world, "--strict")).code).toBe(0);
  });

  test("0: a job that failed fails again", async () => {
    const world = createWorld();
    await world.ci("[{name: a, script: 'exit 7'}]", ["--output-file", "trace.json"]);
    expect((await replay(world)).code).toBe(0);
  });

  test("10: an output differs, and with --report-only or --ignore it does not count", async () => {
    const world = createWorld();
    await record(world, `[{name: a, script: 'echo "when=$(date +%N)" >>"$STEP_OUTPUT_FILE"'}]`);
    const ended = await replay(world, "--report", "json");
    expect(ended.code).toBe(10);
    const report = reportOf(ended);
    expect(report).toMatchObject({ verdict: "different", exitCode: 10 });
    expect(report.differences[0]).toMatchObject({ severity: "different" });
    expect((await replay(world, "--report-only")).code).toBe(0);
    expect((await replay(world, "--ignore", "outputs.when")).code).toBe(0);
    expect((await replay(world, "--ignore", "outputs.other")).code).toBe(10);
  });

  test("11: a local component was changed; nothing runs", async () => {
    const world = createWorld();
    mkdirSync(join(world.work, "step"));
    const file = join(world.work, "step/step.yml");
    writeFileSync(file, `spec: {}\n---\nexec: {command: [sh, -c, '${MARK} echo one']}\n`);
    await record(world, "[{name: a, step: ./step}]");
    expect((await replay(world)).code).toBe(0);
    appendFileSync(file, "# changed\n");
    const ended = await replay(world, "--report-only", "--report", "json");
    expect(ended.code).toBe(11);
    expect(reportOf(ended)).toMatchObject({
      verdict: "component-mismatch",
      reasons: [expect.stringContaining("step")],
    });
    expect(timesRun(world)).toBe(2);
    rmSync(join(world.work, "step"), { recursive: true });
    expect([11, 12]).toContain((await replay(world)).code);
    expect(timesRun(world)).toBe(2);
  });

  test("13: a redacted value is missing; nothing runs until it is given", async () => {
    const world = createWorld();
    const steps = `[{name: a, script: '${MARK} test "$T" = c4nary-""of-mine', env: {T: '\${{ vars.CI_MINE }}'}}]`;
    const env = { CI_MINE: "c4nary-of-mine", STEPS: steps };
    expect((await world.run(["ci", "--mask-variable", "CI_MINE", "--output-file", "trace.json"], { env })).code).toBe(
      0,
    );
    const ended = await replay(world);
    expect(ended.code).toBe(13);
    expect(ended.stdout).toContain("CI_MINE");
    expect(timesRun(world)).toBe(1);
    for (const value of ["c4nary-of-mine", "env:OF_MINE", "file:secret"]) {
      writeFileSync(join(world.work, "secret"), "c4nary-of-mine\n");
      const options = { env: { OF_MINE: "c4nary-of-mine" } };
      const given = await world.run(["replay", "trace.json", "--secret", `CI_MINE=${value}`], options);
      expect(given, given.stdout).toMatchObject({ code: 0 });
      expect(given.stdout + given.stderr).not.toContain("c4nary");
    }
    expect((await replay(world, "--secret", "CI_MINE=env:NOT_SET")).code).toBe(2);
  });

  test("13: a sensitive input is missing, and given it is read by its type again", async () => {
    const world = createWorld();
    mkdirSync(join(world.work, "step"));
    const spec = "spec: {inputs: {token: {type: string, sensitive: true}, n: {type: number}}}";
    const exec = `exec: {command: [sh, -c, 'test "$T" = c4nary-of-mine; echo $N', s], env: {T: '\${{ inputs.token }}', N: '\${{ inputs.n }}'}}`;
    writeFileSync(
      join(world.work, "step/step.yml"),
      `${spec}\n---\n${exec.replace(", env:", "}\nenv:").slice(0, -1)}\n`,
    );
    const args = ["run", "./step", "--inputs", "token=c4nary-of-mine,n=3", "--output-file", "trace.json"];
    const first = await world.run(args);
    expect(first, first.stderr).toMatchObject({ code: 0, stdout: "3\n" });
    const missing = await replay(world);
    expect(missing).toMatchObject({ code: 13, stdout: expect.stringContaining("token") });
    const given = await replay(world, "--secret", "token=c4nary-of-mine");
    expect(given, given.stdout).toMatchObject({ code: 0 });
  });

  test("14: the trace was edited, cut or is something else; nothing runs", async () => {
    const world = createWorld();
    await record(world, `[{name: a, script: '${MARK} echo v=one >>"$STEP_OUTPUT_FILE"'}]`);
    const text = readFileSync(join(world.work, "trace.json"), "utf8");
    const edits = [
      text.replace(/"value": "one"/, '"value": "two"'),
      text.replaceAll("echo v=one", "echo v=two"),
      text.slice(0, text.length / 2),
      "",
      "null",
      "[]",
      '{"formatVersion": "x"}',
      "\0\u0001garbage",
      `{"a":${"[".repeat(50_000)}`,
    ];
    for (const edited of edits) {
      expect(edited).not.toBe(text);
      writeFileSync(join(world.work, "edited.json"), edited);
      const ended = await world.run(["replay", "edited.json"]);
      expect(ended, edited.slice(0, 60)).toMatchObject({ code: 14 });
      expect(ended.stdout + ended.stderr).not.toMatch(/Internal error|\n {4}at /);
    }
    expect(timesRun(world)).toBe(1);
  });

  test("15: logs and tools count with --strict only", async () => {
    const world = createWorld();
    const tool = join(world.work, "tool.sh");
    writeFileSync(tool, "#!/bin/sh\necho same\n", { mode: 0o755 });
    await record(world, "[{name: a, exec: {command: ['${{ work_dir }}/tool.sh']}}]");
    expect((await replay(world, "--strict")).code).toBe(0);
    appendFileSync(tool, "# another tool\n");
    expect((await replay(world)).code).toBe(0);
    const strict = await replay(world, "--strict", "--report", "json");
    expect(strict.code).toBe(15);
    expect(reportOf(strict).verdict).toBe("runtime-drift");
    await record(world, `[{name: a, script: 'head -c 9 /dev/urandom | base64'}]`);
    expect((await replay(world)).code).toBe(0);
    expect((await replay(world, "--strict")).code).toBe(15);
    expect((await replay(world, "--strict", "--report-only")).code).toBe(0);
  });

  test("16: a newer kind of trace", async () => {
    const world = createWorld();
    await record(world, `[{name: a, script: '${MARK} true'}]`);
    const trace = JSON.parse(readFileSync(join(world.work, "trace.json"), "utf8")) as Record<string, unknown>;
    writeFileSync(join(world.work, "trace.json"), JSON.stringify({ ...trace, formatVersion: "2", novelty: 1 }));
    const ended = await replay(world);
    expect(ended).toMatchObject({ code: 16, stdout: "" });
    expect(timesRun(world)).toBe(1);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("130: %s cancels it", async (signal) => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    await record(world, `[{name: a, script: 'echo up; if test -e slow; then sleep ${seconds}; fi'}]`);
    writeFileSync(join(world.work, "slow"), "");
    const runner = world.start(["replay", "trace.json"]);
    await runner.printed("up");
    runner.kill(signal);
    expect(await runner.ended).toMatchObject({ code: 130, stdout: expect.stringContaining("Cancelled") });
  });

  test("2: there is no such file, no such flag", async () => {
    const world = createWorld();
    expect((await replay(world)).code).toBe(2);
    expect((await replay(world, "--strct")).code).toBe(2);
  });
});

describe("the report", () => {
  test("is all that is on standard output with --report json, valid and complete", async () => {
    const world = createWorld();
    await record(world, "[{name: a, script: 'echo from the step'}]");
    const ended = await replay(world, "--report", "json", "--output-file", "again.json");
    expect(reportOf(ended)).toMatchObject({ verdict: "same", exitCode: 0, differences: [] });
    expect(ended.stderr).toContain("from the step");
    const [first, again] = [
      await readTrace(join(world.work, "trace.json")),
      await readTrace(join(world.work, "again.json")),
    ];
    expect(again.parentTraceId).toBe(first.traceId);
    expect(again.fingerprints?.core).toBe(first.fingerprints?.core);
  });

  test("--dry-run shows the components and runs nothing", async () => {
    const world = createWorld();
    await record(world, `[{name: a, script: '${MARK} echo hi'}]`);
    const ended = await replay(world, "--dry-run");
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining("Components:") });
    expect(timesRun(world)).toBe(1);
  });

  test("a replay can be replayed", async () => {
    const world = createWorld();
    await record(world, "[{name: a, script: 'echo v=1 >>$STEP_OUTPUT_FILE'}]");
    expect((await replay(world, "--output-file", "again.json")).code).toBe(0);
    expect((await world.run(["replay", "again.json"])).code).toBe(0);
  });
});

describe.skipIf(!hasProgram("git"))("a component of a git repository", () => {
  const step = (text: string) => `spec: {}\n---\nexec: {command: [echo, ${text}]}\n`;

  async function served(world: World): Promise<{ repository: GitRepository; root: string }> {
    const root = join(world.dir, "served");
    return { repository: await createGitRepository(join(root, "component"), { "step.yml": step("old") }), root };
  }

  test("is the recorded commit although its branch moved, from the cache, fetched again, and offline", async () => {
    const world = createWorld();
    const { repository, root } = await served(world);
    await using server = await startGitHttpServer(root);
    await record(world, `[{name: a, step: 'git+${server.url}/component@main'}]`);
    await repository.commit({ "step.yml": step("new") });
    const moved = await world.ci(`[{name: a, step: 'git+${server.url}/component@main'}]`, ["--quiet"]);
    expect(moved.stdout).toBe("new\n");
    expect((await replay(world)).stdout).toContain("old\nReplay: The same");
    rmSync(world.cacheDir, { recursive: true });
    expect(await replay(world)).toMatchObject({ code: 0, stdout: expect.stringContaining("old\n") });
    const before = server.requests.length;
    expect(await replay(world, "--offline")).toMatchObject({ code: 0, stdout: expect.stringContaining("old\n") });
    expect(server.requests.length).toBe(before);
  });

  test("12: its server is gone and the cache is empty, or we are offline", async () => {
    const world = createWorld();
    const { root } = await served(world);
    const server = await startGitHttpServer(root);
    await record(world, `[{name: a, step: 'git+${server.url}/component@main'}]`);
    await server.close();
    expect((await replay(world)).code).toBe(0);
    renameSync(world.cacheDir, `${world.cacheDir}.gone`);
    expect(await replay(world, "--report-only")).toMatchObject({ code: 12 });
    const offline = await replay(world, "--offline", "--report", "json");
    expect(offline.code).toBe(12);
    expect(reportOf(offline)).toMatchObject({
      verdict: "component-unavailable",
      reasons: [expect.stringContaining("component")],
    });
  });

  test("a pin that was changed is noticed before anything runs", async () => {
    const world = createWorld();
    const { root } = await served(world);
    await using server = await startGitHttpServer(root);
    await record(world, `[{name: a, step: 'git+${server.url}/component@main'}]`);
    const text = readFileSync(join(world.work, "trace.json"), "utf8");
    const tree = /"gitTree": "([0-9a-f]{64})"/.exec(text)?.[1] as string;
    const commit = /"gitCommit": "([0-9a-f]{40})"/.exec(text)?.[1] as string;
    writeFileSync(join(world.work, "trace.json"), text.replaceAll(tree, "0".repeat(64)));
    expect(await replay(world)).toMatchObject({ code: 14 });
    writeFileSync(join(world.work, "trace.json"), text.replaceAll(commit, "0".repeat(40)));
    expect((await replay(world)).stdout).not.toContain("old");
    writeFileSync(join(world.work, "trace.json"), text.replaceAll(`${server.url}/component`, `${server.url}/other`));
    expect((await replay(world)).stdout).not.toContain("old\n");
  });
});
