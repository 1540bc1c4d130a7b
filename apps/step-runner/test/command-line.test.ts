import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifyTrace } from "@steps/trace";
import { describe, expect, test } from "vitest";
import type { Command } from "@steps/console";
import { cacheGc } from "../src/commands/cache-gc.ts";
import { cacheLs } from "../src/commands/cache-ls.ts";
import { cacheVerify } from "../src/commands/cache-verify.ts";
import { ci } from "../src/commands/ci.ts";
import { compile } from "../src/commands/compile.ts";
import { local } from "../src/commands/local.ts";
import { replay } from "../src/commands/replay.ts";
import { run } from "../src/commands/run.ts";
import { traceRecover } from "../src/commands/trace-recover.ts";
import { traceShow } from "../src/commands/trace-show.ts";
import { validate } from "../src/commands/validate.ts";
import { VERSION } from "../src/version.ts";
import { createWorld, readTrace } from "./harness.ts";

const COMMANDS: readonly Command[] = [
  ci, local, run, compile, validate, replay, traceShow, traceRecover, cacheLs, cacheVerify, cacheGc,
]; // oxfmt-ignore

describe("help", () => {
  test.each(COMMANDS.map((command) => [command.name, command] as const))(
    "of %s shows every flag",
    async (name, command) => {
      const world = createWorld();
      const ended = await world.run([...name.split(" "), "--help"], { env: { COLUMNS: "1000" } });
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      for (const [flag, { env }] of Object.entries(command.flags)) {
        const at = ended.stdout.search(new RegExp(`\n  (?:-[a-z], )?--${flag}(?: .*)?\n`));
        expect(at, flag).toBeGreaterThan(0);
        const text = ended.stdout.slice(at).split("\n")[2] ?? "";
        if (env !== undefined) expect(text, flag).toContain(`environment ${env}`);
        else expect(text, flag).not.toMatch(/environment [A-Z_]{2}/);
      }
      expect((await world.run(["help", ...name.split(" ")], { env: { COLUMNS: "1000" } })).stdout).toBe(ended.stdout);
    },
  );

  test("of everything lists every command, of a group its members", async () => {
    const world = createWorld();
    const all = await world.run(["--help"]);
    for (const command of COMMANDS) expect(all.stdout).toContain(`  ${command.name} `);
    const group = await world.run(["cache", "--help"]);
    expect(group).toMatchObject({ code: 0, stdout: expect.stringContaining("cache gc") });
    expect(group.stdout).not.toContain("trace show");
    expect((await world.run(["help", "trace"])).stdout).toContain("trace recover");
  });

  test("the version is the package's", async () => {
    const world = createWorld();
    const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as {
      version: string;
    };
    expect(VERSION).toBe(manifest.version);
    for (const word of ["--version", "-V", "version"]) {
      expect(await world.run([word])).toMatchObject({ code: 0, stdout: `step-runner ${VERSION}\n` });
    }
  });
});

describe("a call that makes no sense ends with 2 and a hint", () => {
  test.each<[string[], string]>([
    [[], "Usage:"],
    [["rnu"], "Did you mean step-runner run?"],
    [["recover"], "step-runner --help"],
    [["cache"], "  cache ls  "],
    [["cache", "lst"], 'Unknown command: "cache lst"'],
    [["ci", "--timout", "3s"], "Did you mean --timeout?"],
    [["ci", "--timeout", "soon"], "a duration such as"],
    [["ci", "--trace-sync", "often"], "none, background, step, all"],
    [["ci", "extra"], 'Unexpected argument: "extra"'],
    [["ci"], "STEPS is not set"],
    [["run"], "No step is named"],
    [["run", "./a", "--json", "[]"], "Both a step and --json"],
    [["run", "./a", "--inputs", "novalue"], "--inputs name=value"],
    [["run", "./a", "--work-dir", "/no/such/dir"], "does not exist"],
    [["run", "--git-url", "https://example.com/x"], "--git-rev"],
    [["replay"], "needs an argument"],
    [["replay", "t.json", "--secret", "x"], "NAME=VALUE"],
    [["run", "./no-such-folder"], "Cannot find a step"],
    [["run", "oci://example.com/X"], "upper-case"],
    [["local", "--format", "github"], "gitlab-ci"],
    [["ci", "--mirror", "nonsense"], "PREFIX=PREFIX"],
  ])("%j", async (args, hint) => {
    const world = createWorld();
    const needsSteps = args[0] === "ci" && args.length > 1;
    const ended = await world.run(args, needsSteps ? { env: { STEPS: "[]" } } : {});
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(hint);
    expect(ended.stderr).not.toContain("Internal error");
  });
});

describe("the state directory", () => {
  const STEPS = "[{name: a, script: 'true'}]";

  test("that cannot be made is an error of the runner", async () => {
    const world = createWorld();
    const file = join(world.dir, "file");
    writeFileSync(file, "");
    const ended = await world.ci(STEPS, ["--state-dir", join(file, "state")]);
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(file) });
    expect(ended.stderr).not.toContain("Internal error");
    const home = await world.ci(STEPS, [], { env: { HOME: file, XDG_STATE_HOME: "", XDG_CACHE_HOME: "" } });
    expect(home).toMatchObject({ code: 1, stderr: expect.stringContaining(file) });
  });

  test("in a place where nothing can be made, for root neither, is an error of the runner", async () => {
    const world = createWorld();
    const ended = await world.ci(STEPS, [], { env: { HOME: "/sys/home", XDG_STATE_HOME: "", XDG_CACHE_HOME: "" } });
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("/sys/home") });
    expect(ended.stderr).not.toContain("Internal error");
  });

  test("that others may write to is refused with a hint", async () => {
    const world = createWorld();
    const dir = join(world.dir, "shared");
    mkdirSync(dir);
    chmodSync(dir, 0o775);
    const ended = await world.ci(STEPS, ["--state-dir", dir]);
    expect(ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("chmod go-w") });
  });

  test("and what is in it are for its owner's eyes", async () => {
    const world = createWorld();
    await world.ci("[{name: a, script: 'echo hi'}]");
    const [path] = world.runs() as [string];
    for (const [name, mode] of [
      ["", 0o700],
      ["logs", 0o700],
      ["trace.jsonl", 0o600],
      ["logs/0.log", 0o600],
    ] as const) {
      expect(statSync(join(path, name)).mode & 0o777, name).toBe(mode);
    }
    expect(existsSync(join(path, "tmp"))).toBe(false);
  });
});

describe("runs beside each other", () => {
  test("in the same second get directories and traces of their own", async () => {
    const world = createWorld();
    const numbers = Array.from({ length: 8 }, (_, index) => index);
    const ended = await Promise.all(
      numbers.map((index) =>
        world.ci(`[{name: a, script: 'echo ${index}'}]`, ["--quiet", "--output-file", `${index}.json`]),
      ),
    );
    expect(ended.map(({ stdout }) => stdout)).toEqual(numbers.map((index) => `${index}\n`));
    const ids = await Promise.all(
      numbers.map(async (index) => (await readTrace(join(world.work, `${index}.json`))).traceId),
    );
    expect(new Set(ids).size).toBe(8);
    expect(world.runs().length).toBe(8);
  });

  test("that write the same file leave one whole trace", async () => {
    const world = createWorld();
    await Promise.all(
      Array.from({ length: 6 }, () => world.ci("[{name: a, script: 'seq 1 999'}]", ["--output-file", "t.json"])),
    );
    expect(verifyTrace(await readTrace(join(world.work, "t.json")))).toEqual([]);
  });
});

describe("a large input", () => {
  // A variable of the environment may have 128 KiB.
  test("of many steps runs them all", async () => {
    const world = createWorld();
    const steps = Array.from({ length: 400 }, (_, index) => `{name: s${index}, exec: {command: ['true']}}`);
    const ended = await world.ci(`[${steps.join(", ")}]`, ["--quiet", "--output-file", "t.json"]);
    expect(ended.code, ended.stderr).toBe(0);
    expect((await readTrace(join(world.work, "t.json"))).root?.children?.length).toBe(400);
  });

  test("that is no list of steps is refused with its place, however deep or odd it is", async () => {
    const world = createWorld();
    const bomb = `a: &a [x, x, x, x, x, x, x, x, x, x]\n${["b", "c", "d", "e", "f", "g"]
      .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${"abcdef"[index]}`).join(", ")}]`)
      .join("\n")}`;
    for (const text of [
      "[".repeat(60_000),
      "{".repeat(1000),
      bomb,
      "\t- a",
      "- {name: a, script: echo, script: b}",
      "- 7",
      "",
      "null",
      "x",
    ]) {
      const ended = await world.ci(text);
      expect(ended.code, text.slice(0, 30)).toBe(2);
      expect(ended.stderr).not.toContain("Internal error");
    }
  });

  test("of a script longer than an argument may be runs, and is the same when it is replayed", async () => {
    const world = createWorld();
    const json = JSON.stringify([{ name: "a", script: `true ${"x".repeat(200_000)}\necho ran` }]);
    const ended = await world.run(["run", "--json", "-", "--output-file", "long.json"], { input: json });
    expect(ended).toMatchObject({ code: 0, stdout: "ran\n" });
    expect((await world.run(["replay", "long.json"])).code).toBe(0);
  });

  test("of a command longer than the system takes is a clear error", async () => {
    const world = createWorld();
    const json = JSON.stringify([{ name: "a", exec: { command: ["true", "x".repeat(200_000)] } }]);
    const ended = await world.run(["run", "--json", "-"], { input: json });
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).not.toContain("Internal error");
    expect(ended.stderr.length).toBeLessThan(2000);
  });
});
