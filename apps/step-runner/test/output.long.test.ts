import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository, hasProgram, startGitHttpServer } from "@steps/testkit";
import { verifyTrace } from "@steps/trace";
import { describe, expect, test } from "vitest";
import { COMMAND, createWorld, readTrace, type World } from "./harness.ts";

interface ShellEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A line of shell in which `$SR` is the command. */
function shell(world: World, line: string, env: Readonly<Record<string, string>> = {}): Promise<ShellEnd> {
  const child = spawn("bash", ["-c", line], { cwd: world.work, env: { ...world.env, ...env, SR: COMMAND } });
  const texts = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (texts.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (texts.stderr += text));
  return new Promise((fulfil) => child.on("close", (code) => fulfil({ code, ...texts })));
}

describe("a reader that goes away", () => {
  test("`| head -1` gets its line, and the job ends as it would have", async () => {
    const world = createWorld();
    const STEPS =
      "[{name: a, script: 'seq 1 200000'}, {name: b, script: 'echo v=1 >>$STEP_OUTPUT_FILE'}, {name: c, script: 'exit 5'}]";
    const ended = await shell(world, '$SR ci --quiet --output-file t.json | head -1; echo "rc=${PIPESTATUS[0]}"', {
      STEPS,
    });
    expect(ended.stdout).toBe("1\nrc=5\n");
    const trace = await readTrace(join(world.work, "t.json"));
    expect(verifyTrace(trace)).toEqual([]);
    expect(trace.root?.children?.[0]?.det?.stdout?.lines).toBe("200000");
    expect(trace.root?.children?.[1]?.det?.outputs).toEqual({ v: { value: "1" } });
  });

  test.each([">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])("with %s the job runs to its end", async (redirection) => {
    const world = createWorld();
    const STEPS = "[{name: a, script: 'echo out; echo err >&2; exit 4'}]";
    const ended = await shell(world, `$SR ci --output-file t.json ${redirection}; echo "rc=$?" >rc`, { STEPS });
    expect(ended.code).toBe(0);
    expect(readFileSync(join(world.work, "rc"), "utf8")).toBe("rc=4\n");
    expect((await readTrace(join(world.work, "t.json"))).root?.det?.status).toBe("failure");
  });

  test("`| true` does not end --help, replay or trace show badly", async () => {
    const world = createWorld();
    await world.ci("[{name: a, script: 'seq 1 50000'}]", ["--output-file", "t.json", "--quiet"]);
    for (const call of ["--help", "ci --help", "trace show t.json", "replay t.json", "compile --json '[]'"]) {
      const ended = await shell(world, `$SR ${call} | true; echo "rc=\${PIPESTATUS[0]}"`);
      expect(ended.stdout, call).toBe("rc=0\n");
      expect(ended.stderr, call).not.toContain("EPIPE");
    }
  });

  test("a full disk behind standard output is an error of the runner", async () => {
    const world = createWorld();
    const STEPS = "[{name: a, script: 'echo out'}]";
    const ended = await shell(world, "$SR ci --quiet >/dev/full", { STEPS });
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("ENOSPC") });
  });
});

describe("a slow reader", () => {
  const MIB = 1_048_576;

  test.each(["pipe", "socket"])("gets 300 MB through a %s, and the runner stays small", async (how) => {
    const world = createWorld();
    const STEPS = `[{name: a, script: 'head -c ${300 * MIB} /dev/zero'}]`;
    const child =
      how === "socket"
        ? spawn(COMMAND, ["ci", "--quiet"], {
            cwd: world.work,
            env: { ...world.env, STEPS },
            stdio: ["ignore", "pipe", "inherit"],
          })
        : // A shell makes a real pipe; its first process tells its number.
          spawn("bash", ["-c", "(echo $BASHPID >pid; exec $SR ci --quiet) | cat"], {
            cwd: world.work,
            env: { ...world.env, STEPS, SR: COMMAND },
            stdio: ["ignore", "pipe", "inherit"],
          });
    let bytes = 0;
    let peakKib = 0;
    const measure = (): void => {
      const pid = how === "socket" ? String(child.pid) : readFileSync(join(world.work, "pid"), "utf8").trim();
      try {
        peakKib = Math.max(
          peakKib,
          Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0),
        );
      } catch {
        // It has ended.
      }
    };
    let pauses = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      const before = Math.floor(bytes / (10 * MIB));
      bytes += chunk.length;
      if (Math.floor(bytes / (10 * MIB)) === before) return;
      measure();
      pauses += 1;
      child.stdout.pause();
      setTimeout(() => child.stdout.resume(), 20);
    });
    await new Promise((fulfil) => child.on("close", fulfil));
    expect(bytes).toBe(300 * MIB);
    expect(pauses).toBeGreaterThan(20);
    expect(peakKib).toBeGreaterThan(0);
    expect(peakKib).toBeLessThan(200 * 1024);
  });
});

describe("what is printed", () => {
  const ESCAPE = /\u001B/;

  test("holds no escape byte without a terminal, and the two streams stay apart", async () => {
    const world = createWorld();
    const ended = await world.ci("[{name: a, script: 'echo out; echo err >&2; exit 3'}]");
    expect(ended).toMatchObject({ code: 3, stdout: "out\n" });
    expect(ended.stderr).toBe('Running step name=a\nerr\nstep-runner: step "a": exec: exit status 3\n');
    await world.ci("[{name: a, script: 'exit 3'}]", ["--output-file", "t.json"]);
    for (const args of [["--help"], ["ci", "--help"], ["rnu"], ["trace", "show", "t.json"], ["replay", "t.json"]]) {
      const { stdout, stderr } = await world.run(args);
      expect(stdout + stderr).not.toMatch(ESCAPE);
    }
  });

  test("holds what a step printed, byte by byte", async () => {
    const world = createWorld();
    const bytes = Buffer.from(Array.from({ length: 1024 }, (_, index) => index % 256));
    const octal = [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
    const STEPS = JSON.stringify([{ name: "a", script: `printf '${octal}'` }]);
    await shell(world, "$SR ci --quiet >out", { STEPS });
    expect(readFileSync(join(world.work, "out")).equals(bytes)).toBe(true);
  });

  test("--quiet prints the output of the steps and errors only", async () => {
    const world = createWorld();
    const ended = await world.ci("[{name: a, script: 'echo out; echo err >&2'}]", [
      "--quiet",
      "--output-file",
      "t.json",
    ]);
    expect(ended).toMatchObject({ stdout: "out\n", stderr: "err\n" });
  });

  test("a file that is appended to keeps what was there", async () => {
    const world = createWorld();
    const STEPS = "[{name: a, script: 'echo out'}]";
    await shell(world, "echo before >out; $SR ci --quiet >>out; $SR ci --quiet >>out", { STEPS });
    expect(readFileSync(join(world.work, "out"), "utf8")).toBe("before\nout\nout\n");
  });
});

describe.skipIf(!hasProgram("script"))("on a terminal", () => {
  const onTerminal = (world: World, columns: number, line: string, env: Readonly<Record<string, string>> = {}) =>
    shell(world, `script -qec "stty cols ${columns}; ${line}" /dev/null </dev/null`, { TERM: "xterm", ...env });

  test("thirty and one columns are enough, with colour and without", async () => {
    const world = createWorld();
    await world.ci("[{name: a-step-with-a-rather-long-name, steps: [{name: b, script: 'echo hi; exit 3'}]}]", [
      "--output-file",
      "t.json",
    ]);
    for (const columns of [30, 1]) {
      for (const call of [
        "--help",
        "replay --help",
        "trace show t.json",
        "run --json '[{name: a, script: echo}]'",
        "rnu",
      ]) {
        const ended = await onTerminal(world, columns, `$SR ${call}`);
        expect(ended.stdout).not.toMatch(/Internal error|RangeError|TypeError/);
        const plain = await onTerminal(world, columns, `$SR ${call}`, { NO_COLOR: "1" });
        expect(plain.stdout).not.toMatch(/\u001B\[\d*m/);
      }
    }
    expect((await onTerminal(world, 80, "$SR rnu")).stdout).toMatch(/\u001B\[31m/);
  });

  test("a job that prints much arrives whole", async () => {
    const world = createWorld();
    const fd = openSync(join(world.work, "out"), "w");
    const STEPS = "[{name: a, script: 'seq 1 3000'}]";
    const child = spawn("script", ["-qec", "$SR ci --quiet --output-file t.json", "/dev/null"], {
      cwd: world.work,
      env: { ...world.env, STEPS, SR: COMMAND, TERM: "xterm" },
      stdio: ["ignore", fd, fd],
    });
    expect(await new Promise((fulfil) => child.on("close", fulfil))).toBe(0);
    closeSync(fd);
    expect(readFileSync(join(world.work, "out"), "utf8").split("\n").length).toBe(3001);
  });

  test("a fetch that takes long shows how far it is; without a terminal, or with --quiet, nothing", async () => {
    const world = createWorld();
    const root = join(world.dir, "served");
    await createGitRepository(join(root, "component"), {
      "step.yml": "spec: {}\n---\nexec: {command: [echo, done]}\n",
    });
    await using server = await startGitHttpServer(root, { delayMs: 1200 });
    const call = (cache: string, flags: string) =>
      `$SR run git+${server.url}/component@main --cache-dir ${join(world.dir, cache)} ${flags}`;
    const [shown, quiet, piped] = await Promise.all([
      onTerminal(world, 90, call("c1", "")),
      onTerminal(world, 60, call("c2", "--quiet")),
      shell(world, call("c3", "")),
    ]);
    expect(shown.stdout).toMatch(/\/component@main {2}\d+s {2}fetching: \S/);
    // No line is longer than the terminal is wide.
    expect(shown.stdout.split("\r\n").every((text) => text.replaceAll(/\u001B\[[?\d;]*\w/g, "").length <= 90)).toBe(
      true,
    );
    expect(shown.stdout).toContain("done");
    expect(quiet.stdout).not.toContain("etching");
    expect(piped.stdout + piped.stderr).not.toMatch(/etching|\u001B/);
  });
});
