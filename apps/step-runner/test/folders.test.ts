import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { COMMAND, createWorld, readTrace } from "./harness.ts";

const HELLO = "- {name: hello, script: echo hello}\n";
const MUCH = "- {name: much, script: 'head -c 3000000 /dev/zero | tr \"\\\\0\" x | fold -w 99'}\n";

/** A file system of its own, if this user may mount one. */
function mounted(options: string): string | undefined {
  const dir = tempDir();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "none", dir], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync("umount", ["-l", dir]));
  return dir;
}

describe.skipIf(!existsSync("/proc/self"))("a state directory where no folders can be made", () => {
  test.each([
    ["--state-dir", ["--state-dir", "/proc/steps"], {}],
    ["XDG_STATE_HOME", [], { XDG_STATE_HOME: "/proc/steps" }],
    ["HOME", [], { XDG_STATE_HOME: "", HOME: "/proc/steps" }],
  ] as const)("is said at once, with a way out: by %s", async (_name, args, env) => {
    const world = createWorld();
    const ended = await world.ci(HELLO, args, { env });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('Cannot write "/proc/steps');
    expect(ended.stderr).toContain("Name another directory with --state-dir or STEP_RUNNER_STATE_DIR.");
    expect(ended.stderr).not.toContain("There is no file");
  });

  test("is no internal error of a command that only reads, and no further complaint of one that has told it", async () => {
    const world = createWorld();
    const env = { HOME: "/proc/steps", XDG_STATE_HOME: "", XDG_CACHE_HOME: "" };
    const listed = await world.run(["cache", "ls"], { env });
    expect(listed).toMatchObject({ code: 1, stdout: "" });
    expect(listed.stderr).toMatch(/^step-runner: Cannot use cache folder "\/proc\/steps[^\n]*\n {2}hint: [^\n]*\n$/);
    const examined = await world.run(["doctor"], { env });
    expect(examined.stderr).toBe("");
    expect(examined.stdout).toContain("/proc/steps/.local/state/step-runner");
    const { stdout } = await world.run(["doctor", "--report", "json"], { env });
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly { readonly name: string }[] };
    expect(findings.filter(({ name }) => ["cache", "state"].includes(name))).toMatchObject([
      { name: "cache", state: "problem", found: expect.stringContaining("no folders can be made there") },
      { name: "state", state: "problem", found: expect.stringContaining("no folders can be made there") },
    ]);
  });

  test("has no runs to list, and nothing to complain of", async () => {
    const world = createWorld();
    const listed = await world.run(["trace", "ls", "--state-dir", "/proc/steps"]);
    expect(listed).toMatchObject({ code: 0, stdout: "No run is kept\n", stderr: "" });
    const shown = await world.run(["trace", "show", "--state-dir", "/proc/steps"]);
    expect(shown).toMatchObject({ code: 2, stdout: "" });
    expect(shown.stderr).toContain("No run is kept yet");
  });

  test("is said for a cache directory, too", async () => {
    const world = createWorld();
    const ended = await world.run(["cache", "ls", "--cache-dir", "/proc/steps"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('Cannot use cache folder "/proc/steps": no folders can be made there');
    expect(ended.stderr).toContain("--cache-dir or STEP_RUNNER_CACHE_DIR");
  });
});

test("runs are listed without a folder being made", async () => {
  const world = createWorld();
  const missing = join(world.dir, "missing");
  const nothing = await world.run(["trace", "ls", "--state-dir", missing]);
  expect(nothing).toMatchObject({ code: 0, stdout: "No run is kept\n", stderr: "" });
  expect(existsSync(missing)).toBe(false);
  const file = join(world.dir, "file");
  writeFileSync(file, "");
  const inFile = await world.run(["trace", "ls", "--state-dir", file]);
  expect(inFile).toMatchObject({ code: 1, stdout: "" });
  expect(inFile.stderr).toContain(`Cannot use directory "${file}": it is not a folder`);
});

test("runs are listed where nothing may be written", async ({ skip }) => {
  const world = createWorld();
  const mount = mounted("size=8m");
  if (mount === undefined) return skip("may not mount");
  const state = join(mount, "state");
  expect(await world.ci(HELLO, ["--state-dir", state])).toMatchObject({ code: 0 });
  execFileSync("mount", ["-o", "remount,ro", mount]);
  const listed = await world.run(["trace", "ls", "--state-dir", state]);
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  expect(listed.stdout).toMatch(/ success [^\n]*\n$/);
});

test("a disk that is full before the run is said with its place, and nothing is left on it", async ({ skip }) => {
  const small = mounted("size=64k");
  if (small === undefined) return skip("may not mount");
  const world = createWorld();
  const filler = join(small, "filler");
  const state = join(small, "state");
  // First there is no room for what scripts call, then it is there already.
  for (const room of [0, 4096]) {
    writeFileSync(filler, Buffer.alloc(64 * 1024 - room));
    const ended = await world.ci(HELLO, ["--state-dir", state]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(
      /^step-runner: Cannot write "[^"]*state[^"]*": the disk is full \(\d+ bytes are free\); --state-dir [^\n]*\n$/,
    );
    const left = readdirSync(state, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => !entry.isDirectory()).map(({ name }) => name)).toEqual(
      room === 0 ? [] : ["step-runner"],
    );
    rmSync(filler);
  }
  expect(await world.ci(HELLO, ["--state-dir", state])).toMatchObject({ code: 0 });
});

test("a disk that is full of logs ends the job, and the trace is written where there is room", async ({ skip }) => {
  const small = mounted("size=512k");
  if (small === undefined) return skip("may not mount");
  const world = createWorld();
  const trace = join(world.work, "trace.json");
  const ended = await world.ci(MUCH, ["--state-dir", join(small, "state"), "--output-file", trace]);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/Cannot write "[^"]*state[^"]*": the disk is full \(\d+ bytes are free\)/);
  expect(ended.stderr).toContain("--state-dir");
  expect(JSON.stringify(await readTrace(trace))).toContain("the disk is full");
});

test("a disk that is full of the journal ends the job, and the trace is written where there is room", async ({
  skip,
}) => {
  const small = mounted("size=256k");
  if (small === undefined) return skip("may not mount");
  const world = createWorld();
  const trace = join(world.work, "trace.json");
  const fill = `- {name: fill, script: 'cat /dev/zero > ${small}/filler || true'}\n`;
  const steps = fill + Array.from({ length: 50 }, (_, i) => `- {name: s${i}, script: "true"}\n`).join("");
  const ended = await world.ci(steps, ["--state-dir", join(small, "state"), "--output-file", trace]);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/Cannot write "[^"]*trace\.jsonl": the disk is full \(\d+ bytes are free\)/);
  expect(ended.stderr).toContain("--state-dir");
  expect(JSON.stringify(await readTrace(trace))).toContain("the disk is full");
});

test("local names a way out where the state directory may only be read", async ({ skip }) => {
  const dir = mounted("ro,size=64k");
  if (dir === undefined) return skip("may not mount");
  const world = createWorld();
  writeFileSync(join(world.work, ".gitlab-ci.yml"), "job: {script: [echo hello]}\n");
  const ended = await world.run(["local", "--state-dir", join(dir, "state")]);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(`Cannot write "${join(dir, "state")}": it is on a file system that may only be read`);
  expect(ended.stderr).toContain("Name another directory with --state-dir or STEP_RUNNER_STATE_DIR.");
});

test.each(["000", "077"])(
  "what a run makes is its owner's alone under umask %s, and the next run takes it",
  async (mask) => {
    const world = createWorld();
    for (let round = 0; round < 2; round += 1) {
      const output = execFileSync("sh", ["-c", `umask ${mask}; "$0" ci && "$0" cache ls`, COMMAND], {
        cwd: world.work,
        env: { ...world.env, STEPS: HELLO },
        encoding: "utf8",
      });
      expect(output).toContain("hello");
    }
    for (const dir of [world.stateDir, join(world.stateDir, "runs"), join(world.stateDir, "bin"), world.cacheDir]) {
      expect([dir, statSync(dir).mode & 0o777]).toEqual([dir, 0o700]);
    }
  },
);

test("no code of the program is kept where a step can write", async () => {
  const world = createWorld();
  mkdirSync(join(world.dir, "cache/step-runner/v1/code"), { recursive: true });
  expect((await world.ci(HELLO)).code).toBe(0);
  const kept = [join(world.dir, "cache"), join(world.dir, "home")].flatMap((dir) =>
    readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
  );
  expect(kept).toEqual([]);
});
