import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasProgram } from "@steps/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { busyboxRoot, findBusybox } from "./busybox-root.ts";
import { createContainers, hasDocker } from "./containers.ts";
import { COMMAND, createWorld, processesWith, uniqueSeconds, type World } from "./harness.ts";

const TEST_MS = 120_000;

interface TerminalRun {
  /** The lines that a person types. */
  readonly typed?: string;
  /** The shell of the user, as a script; `$PPID` is the runner. */
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs step-runner on a terminal of its own. */
function onTerminal(
  world: World,
  call: string,
  { typed = "", shell, env }: TerminalRun,
): { code: number | null; shown: string } {
  const program = join(world.dir, "shell");
  writeFileSync(program, `#!/bin/sh\n${shell ?? 'exec sh "$@"'}\n`);
  chmodSync(program, 0o755);
  const { status, stdout } = spawnSync("script", ["-qec", `SHELL=${program} $SR ${call}`, "/dev/null"], {
    cwd: world.work,
    env: { ...world.env, TERM: "dumb", SHELL: "/bin/sh", SR: COMMAND, MARK: mark(world), ...env },
    input: typed,
    encoding: "utf8",
    timeout: TEST_MS,
  });
  return { code: status, shown: stdout.replaceAll("\r\n", "\n") };
}

const mark = (world: World): string => join(world.dir, "mark");
const marked = (world: World): string => (existsSync(mark(world)) ? readFileSync(mark(world), "utf8") : "");

function ciFile(world: World, file: object): void {
  writeFileSync(join(world.work, ".gitlab-ci.yml"), JSON.stringify(file));
}

const workspaces = (world: World): string[] => {
  const dir = join(world.stateDir, "workspaces");
  return existsSync(dir) ? readdirSync(dir) : [];
};

describe.skipIf(!hasProgram("script"))("--shell-on-failure", { timeout: TEST_MS }, () => {
  test("local opens a shell in the folder of the job, with its variables and secrets, and goes on after it", () => {
    const world = createWorld();
    ciFile(world, { test: { variables: { V: "own" }, script: ["echo made > file", "exit 3"] } });
    const typed = 'echo "<$(cat file) $V $S>"\nexit 5\n';
    const { code, shown } = onTerminal(world, "local --shell-on-failure --secret S=hidden", { typed });
    expect(shown).toContain('The job "test" failed: step "step_script": exec: exit status 3\n');
    expect(shown).toMatch(/This shell is in its folder \/.*, with the job's variables and secrets\. "exit" goes on\./);
    expect(shown).toContain("<made own hidden>\n");
    expect(code).toBe(3);
    expect(existsSync(join(world.work, "file"))).toBe(false);
    expect(workspaces(world)).toEqual([]);
  });

  test("local opens none for a job that passes", () => {
    const world = createWorld();
    ciFile(world, { test: { script: "true" } });
    const { code } = onTerminal(world, "local --shell-on-failure", { shell: "echo opened > $MARK" });
    expect([code, marked(world)]).toEqual([0, ""]);
  });

  test("local opens one for the job of a workflow", () => {
    const world = createWorld();
    const jobs = { test: { "runs-on": "ubuntu-latest", steps: [{ run: "echo made > file; exit 3" }] } };
    writeFileSync(join(world.work, "ci.yml"), JSON.stringify({ on: "push", jobs }));
    const { code } = onTerminal(world, `local ci.yml --shell-on-failure --vars-from-env MARK`, {
      shell: "cp file $MARK",
    });
    expect([code, marked(world)]).toEqual([3, "made\n"]);
  });

  test("pipeline opens one at a time, after the last attempt, while other jobs go on", () => {
    const world = createWorld();
    ciFile(world, {
      a: { script: "exit 3", retry: 1 },
      b: { script: "exit 4" },
      passes: { script: `touch ${join(world.dir, "passed")}` },
    });
    const shell = `cd ${world.dir}
mkdir open || echo overlap >> mark
until test -e passed; do sleep 0.05; done
echo "$CI_JOB_NAME" >> mark
rmdir open`;
    const { code, shown } = onTerminal(world, "pipeline --jobs 3 --shell-on-failure --report json", {
      shell,
    });
    expect(marked(world).trim().split("\n").toSorted()).toEqual(["a", "b"]);
    expect(shown).toMatch(/"job": "a",\s+"stage": "test",\s+"result": "failure",\s+"durationMs": \d+,\s+"attempts": 2/);
    expect([3, 4]).toContain(code);
    expect(workspaces(world)).toEqual([]);
  });

  test("a runner that is asked to stop ends the shell and cleans up", () => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    ciFile(world, { test: { script: "exit 3" }, other: { script: "exit 4" } });
    const shell = `echo opened >> $MARK; kill -TERM $PPID; exec sleep ${seconds}`;
    for (const call of ["local --job-name test", "pipeline --jobs 2"]) {
      onTerminal(world, `${call} --vars-from-env MARK --shell-on-failure`, { shell });
      expect(processesWith(seconds)).toEqual([]);
      expect(workspaces(world)).toEqual([]);
    }
    expect(marked(world)).toBe("opened\nopened\n");
  });
});

const busybox = findBusybox();
const isPossible = hasProgram("script") && hasProgram("docker") && busybox !== undefined && hasDocker();

describe.skipIf(!isPossible)("--shell-on-failure of a job in a container", { timeout: TEST_MS }, () => {
  const containers = createContainers();
  let image = "";
  beforeAll(() => {
    image = containers.importImage("plain", busyboxRoot(busybox as string, ["cat", "echo", "sleep"]), ["ENV OF=image"]);
  });
  afterAll(() => containers.remove());

  test("is in the container, with the variables and secrets of the job", () => {
    const world = createWorld();
    ciFile(world, { test: { image, variables: { V: "own" }, script: ["echo made > file", "exit 3"] } });
    const typed = 'echo "<$(cat file) $V $S $OF>"\nexit\n';
    const call = "--shell-on-failure --secret S=hidden --pull-policy never";
    for (const command of ["local", "pipeline"]) {
      const { code, shown } = onTerminal(world, `${command} ${call}`, { typed, shell: "echo no" });
      expect(shown).toContain("This shell is in its container, in /builds/");
      expect(shown).toContain("<made own hidden image>\n");
      expect(code).toBe(3);
    }
  });
});
