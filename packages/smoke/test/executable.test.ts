import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { hasProgram, isFullSize, tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { root } from "./workspace.ts";

const command = realpathSync(join(root, "node_modules/.bin/step-runner"));
/** Absent where no Bun is installed: then the command is a script that starts Node. */
const isPacked = basename(command).startsWith("step-runner-linux-");
if (!isPacked) hasProgram("bun");

const ARM_LIBRARIES = "/usr/aarch64-linux-gnu";
const VERSION = /^step-runner \d+\.\d+\.\d+\n$/;

function call(program: string, args: readonly string[], cwd = root): SpawnSyncReturns<string> {
  const dir = tempDir();
  const env = { PATH: process.env["PATH"], HOME: dir, TMPDIR: dir };
  return spawnSync(program, [...args], { cwd, env, encoding: "utf8" });
}

/** How often the engine compiles a function while a job runs. */
function countCompiled(steps: readonly object[]): number {
  const dir = tempDir();
  const env = { PATH: process.env["PATH"], HOME: dir, STEPS: JSON.stringify(steps), BUN_JSC_reportCompileTimes: "1" };
  const ended = spawnSync(command, ["ci", "--quiet"], { cwd: dir, env, encoding: "utf8" });
  expect(ended.status).toBe(0);
  return ended.stderr.split("\n").filter((line) => line.startsWith("Optimized ")).length;
}

describe.skipIf(!isPacked)("the command as one executable", () => {
  test("needs the C library and nothing else", () => {
    const libraries = call("readelf", ["--dynamic", command]).stdout.matchAll(/\(NEEDED\).*\[(.*)\]/g);
    const names = [...libraries].map(([, name]) => name);
    expect(names).toContain("libc.so.6");
    expect(names.filter((name) => !/^(?:libc|libm|libdl|libpthread|ld-linux-.*)\.so\.\d$/.test(name ?? ""))).toEqual(
      [],
    );
  });

  test("is the same, bit for bit, when it is made again", () => {
    const before = readFileSync(command);
    const made = spawnSync("node", ["scripts/pack.mjs"], { cwd: root, encoding: "utf8" });
    expect(made, made.stderr).toMatchObject({ status: 0, stdout: `${command}\n` });
    expect(readFileSync(command).equals(before)).toBe(true);
  });

  test.skipIf(process.arch !== "x64" || !hasProgram("qemu-x86_64-static"))("starts on a processor without AVX", () => {
    const ended = call("qemu-x86_64-static", ["-cpu", "Nehalem", command, "--version"]);
    expect(ended).toMatchObject({ status: 0, stdout: expect.stringMatching(VERSION) });
  });

  test("is not changed by what lies in the folder where it is called", () => {
    const dir = tempDir();
    const strange = `process.stdout.write("strange\\n"); process.exit(9);\n`;
    writeFileSync(join(dir, "strange.js"), strange);
    writeFileSync(
      join(dir, ".env"),
      `STEPS='[{name: a, script: "echo strange"}]'\nBUN_OPTIONS=--preload=./strange.js\n`,
    );
    writeFileSync(join(dir, "bunfig.toml"), `preload = ["./strange.js"]\n`);
    writeFileSync(join(dir, "tsconfig.json"), `{"compilerOptions":{"paths":{"*":["./strange.js"]}}}\n`);
    writeFileSync(join(dir, "package.json"), `{"name":"strange","imports":{"#a":"./strange.js"}}\n`);
    mkdirSync(join(dir, "node_modules/yaml"), { recursive: true });
    writeFileSync(join(dir, "node_modules/yaml/index.js"), strange);
    const ended = call(command, ["ci"], dir);
    expect(ended).toMatchObject({ status: 2, stdout: "" });
    expect(ended.stderr).toContain("STEPS");
  });

  test("compiles what runs often once a command takes longer", () => {
    const steps = Array.from({ length: 60 }, (_, index) => ({ name: `s${index}`, script: "sleep 0.005" }));
    expect(countCompiled(steps)).toBeGreaterThan(200);
  });
});

/** The loaders that the executables for other machines name. */
const OTHERS = {
  "linux-arm64": "/lib/ld-linux-aarch64.so.1",
  "linux-x64-musl": "/lib/ld-musl-x86_64.so.1",
  "linux-arm64-musl": "/lib/ld-musl-aarch64.so.1",
};

// Three of Bun's packages are fetched for it.
describe.skipIf(!isPacked).each(isFullSize ? Object.entries(OTHERS) : [])("the executable for %s", (target, loader) => {
  test("is made here", () => {
    const made = spawnSync("node", ["scripts/pack.mjs", target], { cwd: root, encoding: "utf8" });
    expect(made, made.stderr).toMatchObject({ status: 0 });
    const path = made.stdout.trim();
    const heads = call("readelf", ["--program-headers", path]).stdout;
    expect(/program interpreter: (.*)\]/.exec(heads)?.[1]).toBe(loader);
    if (target !== "linux-arm64") return;
    // Debian has a C library for an emulator of this processor, and none of musl with what else Bun needs.
    const emulated = ["-L", ARM_LIBRARIES, path];
    const ended = call("qemu-aarch64-static", [...emulated, "--version"]);
    expect(ended, ended.stderr).toMatchObject({ status: 0, stdout: expect.stringMatching(VERSION) });
    // It calls the system's library to make pipes, and Bun makes the code for that.
    const run = call("qemu-aarch64-static", [
      ...emulated,
      "run",
      "--json",
      '[{"name":"a","script":"echo a; echo b >/dev/stderr"}]',
    ]);
    expect(run, run.stderr).toMatchObject({ status: 0, stdout: "a\n", stderr: expect.stringContaining("b\n") });
  });
});
