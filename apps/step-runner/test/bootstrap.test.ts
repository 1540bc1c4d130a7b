import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, statSync, symlinkSync, writeFileSync,
} from "node:fs"; // oxfmt-ignore
import { once } from "node:events";
import { createServer } from "node:net";
import { basename, join, resolve } from "node:path";
import { freePort, hasProgram, tempDir } from "@steps/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { ARGV_VARIABLE } from "../src/bootstrap/start.ts";
import { VERSION } from "../src/version.ts";
import { COMMAND, createWorld, type Ended } from "./harness.ts";

const HELPER = "gitlab-runner-helper";

let placed = "";
beforeAll(async () => {
  placed = join(tempDir(), HELPER);
  expect(await call(COMMAND, ["steps", "bootstrap", placed])).toMatchObject({ code: 0, stderr: "" });
});

interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

async function call(program: string, args: readonly string[], { env, input }: CallOptions = {}): Promise<Ended> {
  const child = spawn(program, [...args], { env: { PATH: process.env["PATH"], ...env }, stdio: "pipe" });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => (texts[name] += text));
  child.stdin.end(input);
  return new Promise((fulfil, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => fulfil({ code, signal, ...texts }));
  });
}

const runtimesBeside = (launcher: string): string[] =>
  readdirSync(join(launcher, "..")).filter((name) => name.startsWith(`.${basename(launcher)}-runtime-`));

/** The file that holds our program: the bundle that Node runs, or the packed executable. */
const mainOf = (runtimeDir: string): string => {
  const bundle = join(runtimeDir, "app/main.cjs");
  return existsSync(bundle) ? bundle : join(runtimeDir, "step-runner");
};

const PIECE = 'printf "%s," "$@" "$(cat)"';

/** A program that stands in for one of GitLab's. */
function writeProgram(path: string, script: string): string {
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

describe("bootstrap", () => {
  test("leaves a launcher of about a kilobyte, and a runtime beside it", () => {
    const names = readdirSync(join(placed, "..")).toSorted();
    expect(names).toEqual([expect.stringMatching(/^\.gitlab-runner-helper-runtime-[0-9a-f]{16}$/), HELPER]);
    expect(statSync(placed).size).toBeLessThan(1500);
    expect(statSync(placed).mode & 0o7777).toBe(0o755);
  });

  test("of a folder writes the command into it", async () => {
    const dir = join(tempDir(), "a/b");
    const ended = await call(placed, ["bootstrap", dir]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(/^\/.*\/a\/b\/step-runner runs in any Linux container, with \d+\.\d MiB beside it\n$/);
    expect(await call(join(dir, "step-runner"), ["--version"])).toMatchObject({ stdout: `step-runner ${VERSION}\n` });
    expect(statSync(dir).mode & 0o7777).toBe(0o755);
  });

  test("needs to know where", async () => {
    for (const args of [["steps", "bootstrap"], ["bootstrap"], ["steps", "bootstrap", "a", "b"]])
      expect(await call(placed, args)).toMatchObject({ code: 2, stdout: "" });
    const dir = tempDir();
    const folder = await call(placed, ["steps", "bootstrap", dir]);
    expect(folder).toMatchObject({ code: 1, stderr: expect.stringContaining(`Cannot write "${dir}": it is a folder`) });
    expect(readdirSync(dir)).toEqual([]);
    expect(await call(placed, ["steps", "bootstrap", "/proc/x"])).toMatchObject({
      code: expect.not.stringMatching("0"),
    });
  });

  test("from the sources says that there is no bundle", async () => {
    const main = resolve(import.meta.dirname, "../src/main.ts");
    const dir = tempDir();
    const args = ["--conditions=steps-source", main, "bootstrap", dir];
    const ended = await call(process.execPath, args);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("Only the built command") });
    expect(readdirSync(dir)).toEqual([]);
  });

  test("again and at once makes one runtime, that of the original", async () => {
    const path = join(tempDir(), HELPER);
    const ended = await Promise.all(Array.from({ length: 3 }, () => call(placed, ["steps", "bootstrap", path])));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(readdirSync(join(path, "..")).toSorted()).toEqual([...runtimesBeside(placed), HELPER]);
    const [runtime = ""] = runtimesBeside(path);
    const before = statSync(join(path, "..", runtime)).ino;
    expect(await call(COMMAND, ["steps", "bootstrap", path])).toMatchObject({ code: 0 });
    expect(await call(path, ["steps", "bootstrap", path])).toMatchObject({ code: 0 });
    expect(statSync(join(path, "..", runtime)).ino).toBe(before);
    expect(readFileSync(path)).toEqual(readFileSync(placed));
  });

  test("is put right where a file of the runtime is damaged", async () => {
    const path = join(tempDir(), HELPER);
    cpSync(join(placed, ".."), join(path, ".."), { recursive: true });
    const [runtime = ""] = runtimesBeside(path);
    const main = mainOf(join(path, "..", runtime));
    writeFileSync(main, "");
    expect(await call(placed, ["steps", "bootstrap", path])).toMatchObject({ code: 0 });
    expect(statSync(main).size).toBeGreaterThan(100);
    expect(readdirSync(join(path, ".."))).toHaveLength(2);
  });

  test.skipIf(!hasProgram("script"))("shows on a terminal that it copies", () => {
    const path = join(tempDir(), "x");
    const { stdout } = spawnSync("script", ["-qec", `${placed} steps bootstrap ${path}`, "/dev/null"], {
      encoding: "utf8",
    });
    expect(stdout).toMatch(/^Copying \d+\.\d MiB\r\n.* runs in any Linux container/);
  });
});

describe("what was left", () => {
  test("runs steps, also where variables are set that would break its engine", async () => {
    const world = createWorld();
    const env = {
      ...world.env,
      LD_PRELOAD: "/no/such.so",
      LD_LIBRARY_PATH: "/no/such",
      NODE_OPTIONS: "--no-such-flag",
      OPENSSL_CONF: "/no/such",
      BUN_BE_BUN: "1",
      BUN_OPTIONS: "--no-such-flag",
      STEPS: '[{name: a, script: "echo one $((1 + 1))"}]',
    };
    const ended = await call(placed, ["ci", "--quiet"], { env });
    expect(ended).toMatchObject({ code: 0, stdout: "one 2\n", stderr: "" });
  });

  test("runs from where it was moved to, and through a link", async () => {
    const dir = join(tempDir(), "first");
    cpSync(join(placed, ".."), dir, { recursive: true });
    const moved = join(tempDir(), "a folder");
    renameSync(dir, moved);
    const link = join(tempDir(), "link");
    symlinkSync(join(moved, HELPER), link);
    for (const path of [join(moved, HELPER), link])
      expect(await call(path, ["--version"])).toMatchObject({ code: 0, stdout: expect.stringContaining(HELPER) });
  });

  test("says what is missing where it was moved alone", async () => {
    const path = join(tempDir(), HELPER);
    cpSync(placed, path);
    const ended = await call(path, ["--version"]);
    expect(ended).toMatchObject({ code: 127, stdout: "", stderr: expect.stringContaining("(error 2)") });
  });

  test("gives the jobs of a CI file a command that starts it again", async () => {
    const world = createWorld();
    writeFileSync(join(world.work, ".gitlab-ci.yml"), "job:\n  script:\n    - step-runner --version\n");
    const env = { ...world.env, PWD: world.work };
    const ended = spawnSync(placed, ["local", ".gitlab-ci.yml", "--job-name", "job", "--quiet"], {
      cwd: world.work,
      env,
      encoding: "utf8",
    });
    expect(ended).toMatchObject({ status: 0, stderr: "" });
    expect(ended.stdout).toContain(`step-runner ${VERSION}\n`);
    expect(readlinkSync(join(world.stateDir, "bin/step-runner"))).toBe(placed);
  });
});

describe("under the names of GitLab's programs", () => {
  /** The command under another name: as a link to the launcher, and to the bundle as npm makes it. */
  const named = (name: string): (readonly [string, ...string[]])[] => {
    const [runtime = ""] = runtimesBeside(placed);
    return [placed, mainOf(join(placed, "..", runtime))].map((target) => {
      const link = join(tempDir(), name);
      symlinkSync(target, link);
      return target.endsWith(".cjs") ? [process.execPath, link] : [link];
    });
  };

  test.each([HELPER, "gitlab-runner"])("%s --version has the lines that GitLab's runner reads", async (name) => {
    for (const [program, ...first] of named(name))
      for (const flag of ["--version", "-v"]) {
        const { code, stdout } = await call(program, [...first, flag]);
        const lines = new Map(stdout.split("\n").map((line) => [line.split(":")[0], line.split(":")[1]?.trim()]));
        expect([code, lines.get("Name"), lines.get("Version")]).toEqual([0, name, VERSION]);
        expect(lines.get("OS/Arch")).toBe(`linux/${process.arch === "x64" ? "amd64" : process.arch}`);
        expect(stdout).toContain("\nVersion:");
        expect(stdout).toContain("\nOS/Arch:");
      }
  });

  test("the group steps is ours", async () => {
    for (const [program, ...first] of named("gitlab-runner")) {
      const { code, stdout } = await call(program, [...first, "steps", "--help"]);
      expect(code).toBe(0);
      for (const word of ["serve", "proxy", "bootstrap"]) expect(stdout).toContain(`steps ${word}`);
      expect(await call(program, [...first, "steps", "nonsense"])).toMatchObject({ code: 2, stdout: "" });
    }
  });

  test("other words go to the program that is named, beside us or next on the PATH", async () => {
    const dir = tempDir();
    for (const where of ["named", "first", "second"]) mkdirSync(join(dir, where));
    cpSync(join(placed, ".."), join(dir, "beside"), { recursive: true });
    const own = join(dir, "beside", HELPER);
    symlinkSync(own, join(dir, "first", HELPER));
    writeProgram(join(dir, "second", HELPER), `${PIECE}; exit 5`);
    const PATH = `${dir}/first:relative:${dir}/beside:${dir}/second:${process.env["PATH"]}`;
    const args = ["cache-archiver", "--file", "a b", ""];
    const expected = { code: 5, stdout: "cache-archiver,--file,a b,,input,", stderr: "" };
    expect(await call(own, args, { env: { PATH }, input: "input" })).toEqual({ ...expected, signal: null });
    writeProgram(`${own}.original`, `${PIECE}; exit 6`);
    expect(await call(own, args, { env: { PATH }, input: "input" })).toMatchObject({ ...expected, code: 6 });
    const GITLAB_RUNNER_HELPER_ORIGINAL = writeProgram(join(dir, "named/x"), `${PIECE}; kill -TERM $$`);
    const env = { PATH, GITLAB_RUNNER_HELPER_ORIGINAL };
    expect(await call(own, args, { env, input: "input" })).toMatchObject({
      ...expected,
      code: null,
      signal: "SIGTERM",
    });
    // Under our own name nothing is passed on.
    const [ours = [""]] = named("step-runner");
    expect(await call(ours[0], args, { env })).toMatchObject({ code: 2, stdout: "" });
  });

  test("that program sees the variables as they were", async () => {
    const GITLAB_RUNNER_HELPER_ORIGINAL = writeProgram(join(tempDir(), "x"), "env");
    const given = {
      NODE_OPTIONS: "--none",
      LD_X: "1",
      OPENSSL_CONF: "/none",
      BUN_X: "2",
      A: "é",
      [ARGV_VARIABLE]: "?",
    };
    const { stdout } = await call(placed, ["read-logs"], { env: { ...given, GITLAB_RUNNER_HELPER_ORIGINAL } });
    for (const line of ["NODE_OPTIONS=--none", "LD_X=1", "OPENSSL_CONF=/none", "BUN_X=2", "A=é"])
      expect(stdout.split("\n")).toContain(line);
    expect(stdout).not.toMatch(/%|LD_LIBRARY_PATH|LD_PRELOAD/);
    expect(stdout).not.toContain(ARGV_VARIABLE);
  });

  test("where there is none, our commands are there and other words are refused", async () => {
    const env = { PATH: "/usr/bin:/bin" };
    const ended = await call(placed, ["cache-archiver", "--file", "x"], { env });
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(
      `"${HELPER} cache-archiver" stores caches (cache:), and only GitLab's own program does`,
    );
    expect(ended.stderr).toContain(`${HELPER}.original`);
    expect(ended.stderr).toContain("GITLAB_RUNNER_HELPER_ORIGINAL");
    const unknown = await call(placed, ["nonsense"], { env });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining(`no other ${HELPER} for "nonsense"`) });
    const ci = { ...createWorld().env, STEPS: "[{name: a, script: echo hi}]" };
    expect(await call(placed, ["ci", "--quiet"], { env: ci })).toMatchObject({ code: 0, stdout: "hi\n" });
  });

  test("where there is none, cache-init opens the folders of volumes", async () => {
    const dirs = ["a b", "-c"].map((name) => join(tempDir(), name));
    for (const dir of dirs) mkdirSync(dir, { mode: 0o700 });
    const env = { PATH: "/usr/bin:/bin" };
    const ended = await call(placed, ["cache-init", "/no/such", ...dirs], { env });
    expect(ended).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining('Cannot open "/no/such"') });
    for (const dir of dirs) expect(statSync(dir).mode & 0o777).toBe(0o777);
    expect(await call(placed, ["cache-init"], { env })).toMatchObject({ code: 2 });
  });

  test("where there is none, health-check waits for a service of the job", async () => {
    const server = createServer();
    const port = await freePort();
    await once(server.listen(port, "127.0.0.1"), "listening");
    const link = { DB_PORT_1_TCP_ADDR: "127.0.0.1", DB_PORT_1_TCP_PORT: String(port), DB_PORT_2_TCP_PORT: "1" };
    const PATH = "/usr/bin:/bin";
    const linked = await call(placed, ["health-check"], { env: { PATH, ...link } });
    expect(linked).toMatchObject({ code: 0, stdout: expect.stringContaining(`127.0.0.1:${port} listens\n`) });
    expect(await call(placed, ["health-check", "--port", String(port)], { env: { PATH } })).toMatchObject({ code: 0 });
    server.close();
    // It waits as long as it is let.
    const waiting = spawn(placed, ["health-check", "-p", String(port)], { env: { PATH }, stdio: "pipe" });
    await once(waiting.stdout, "data");
    server.listen(port, "127.0.0.1");
    expect(await once(waiting, "exit")).toEqual([0, null]);
    server.close();
    expect(await call(placed, ["health-check"], { env: { PATH } })).toMatchObject({ code: 2 });
  });

  test("one that is us again, or that cannot be started, is not tried for ever", async () => {
    const path = writeProgram(join(tempDir(), HELPER), `exec ${placed} "$@"`);
    const own = { GITLAB_RUNNER_HELPER_ORIGINAL: path };
    expect(await call(placed, ["cache-archiver"], { env: own })).toMatchObject({ code: 2, stdout: "" });
    const missing = await call(placed, ["cache-archiver"], { env: { GITLAB_RUNNER_HELPER_ORIGINAL: "/no/such" } });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no file "/no/such"') });
    const file = join(tempDir(), "file");
    writeFileSync(file, "");
    const plain = await call(placed, ["cache-archiver"], { env: { GITLAB_RUNNER_HELPER_ORIGINAL: file } });
    expect(plain).toMatchObject({ code: 1, stderr: expect.stringContaining("permission denied") });
    // A file that the kernel does not know how to start.
    chmodSync(file, 0o755);
    writeFileSync(file, Buffer.from([0, 1, 2, 3]));
    const strange = await call(placed, ["cache-archiver"], { env: { GITLAB_RUNNER_HELPER_ORIGINAL: file } });
    // Node aborts there.
    expect([null, 1]).toContain(strange.code);
    expect(strange).toMatchObject({ stdout: "", stderr: expect.stringContaining("ENOEXEC") });
  });
});

describe("arguments in the environment", () => {
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");

  test("stand in for those that an entry point dropped", async () => {
    for (const program of [placed, COMMAND]) {
      const env = { [ARGV_VARIABLE]: encoded(["--version"]) };
      const { code, stdout } = await call(program, [], { env });
      expect([code, stdout.includes(VERSION)]).toEqual([0, true]);
    }
  });

  test("that make no sense are said so", async () => {
    for (const text of ["%", encoded({ steps: "serve" })]) {
      const ended = await call(placed, [], { env: { [ARGV_VARIABLE]: text } });
      expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(ARGV_VARIABLE) });
    }
    expect(existsSync(placed)).toBe(true);
  });
});
