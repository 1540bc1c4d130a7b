import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { hasProgram, tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { readListing } from "./launcher-code.ts";
import { LAUNCHER_CODES, launcherElf, type LauncherArgument } from "./launcher-elf.ts";

const SHOW = "process.stdout.write(JSON.stringify([process.argv.slice(1), process.env]))";
const OWN = LAUNCHER_CODES[process.arch];

/** A launcher that starts a program which is linked into the folder `runtime` beside it. */
function placeLauncher(
  options: { name?: string; program?: string; args?: readonly LauncherArgument[]; arch?: string } = {},
): { dir: string; path: string } {
  const dir = tempDir();
  const path = join(dir, options.name ?? "launcher");
  mkdirSync(join(dir, "runtime"));
  symlinkSync(options.program ?? process.execPath, join(dir, "runtime/program"));
  const code = LAUNCHER_CODES[options.arch ?? process.arch];
  if (code === undefined) throw new Error("no launcher for this processor");
  const args = options.args ?? [{ text: "-e" }, { text: SHOW }, { text: "--" }];
  writeFileSync(path, launcherElf(code, { program: "runtime/program", args }), { mode: 0o755 });
  return { dir, path };
}

type Environment = Record<string, string>;

/** Returns the arguments and the environment that a launcher gives to the program that it starts. */
function launch(path: string, args: readonly string[], env: Environment = {}, argv0?: string): [string[], Environment] {
  const ended = spawnSync(path, [...args], { env, encoding: "utf8", argv0 });
  expect(ended.stderr).toBe("");
  return JSON.parse(ended.stdout) as [string[], Environment];
}

describe.each([
  ["x64", "objdump", ["-b", "binary", "-m", "i386:x86-64", "-M", "intel"]],
  ["arm64", "aarch64-linux-gnu-objdump", ["-b", "binary", "-m", "aarch64"]],
])("the listing for %s", (arch, objdump, flags) => {
  const { listing } = LAUNCHER_CODES[arch] as { listing: string };

  test("has a row of bytes for each that is not a label", () => {
    const rows = listing.split("\n").filter((row) => row !== "" && !/^[a-z_]+:$/.test(row));
    expect(readListing(listing)).toHaveLength(rows.length);
    expect(rows.length).toBeGreaterThan(100);
  });

  test.skipIf(!hasProgram(objdump))("says what its bytes are", () => {
    const instructions = readListing(listing);
    const file = join(tempDir(), "code");
    writeFileSync(file, Buffer.concat(instructions.map(({ bytes }) => bytes)));
    const { stdout } = spawnSync(objdump, ["-D", "--no-show-raw-insn", ...flags, file], { encoding: "utf8" });
    const plain = (text: string): string =>
      text.replace(/\s*(?:\/\/|#\s).*$/, "").replace(/ <[^>]*>$/, "").replaceAll(/\s+/g, " ").replace(/\b0x(?=[0-9a-f]+$)/, "").trim(); // oxfmt-ignore
    const shown = stdout.split("\n").flatMap((row) => /^ +[0-9a-f]+:\t(.*)$/.exec(row)?.[1] ?? []);
    expect(shown.map(plain)).toEqual(instructions.map(({ text }) => plain(text)));
  });
});

describe.skipIf(OWN === undefined)("a launcher", () => {
  test("is a static program with a stack that is not executed", () => {
    const bytes = launcherElf(LAUNCHER_CODES["x64"] as NonNullable<typeof OWN>, { program: "p", args: [] });
    expect(bytes.length).toBeLessThan(1024);
    expect([bytes.readUInt16LE(16), bytes.readUInt16LE(18), bytes.readUInt16LE(56)]).toEqual([2, 62, 2]);
    // One segment that is read and executed, and never written.
    expect([bytes.readUInt32LE(64), bytes.readUInt32LE(68)]).toEqual([1, 5]);
    expect([bytes.readUInt32LE(120), bytes.readUInt32LE(124)]).toEqual([0x6474_e551, 6]);
  });

  test("gives its path, the name it was called by and the arguments", () => {
    const { path } = placeLauncher();
    const [args] = launch(path, ["a", "", "b c"], {}, "some-name");
    expect(args).toEqual([path, "some-name", "a", "", "b c"]);
  });

  test("builds paths in its own folder", () => {
    const args = [{ text: "-e" }, { text: SHOW }, { text: "--" }, { beside: "x/y" }, { text: "z" }, { beside: "w" }];
    const { dir, path } = placeLauncher({ args });
    expect(launch(path, ["end"])[0]).toEqual([join(dir, "x/y"), "z", join(dir, "w"), path, path, "end"]);
  });

  test("is found behind symbolic links, and after its folder moved", () => {
    const { dir, path } = placeLauncher();
    const link = join(tempDir(), "other");
    symlinkSync(path, link);
    expect(launch(link, [])[0]).toEqual([path, link]);
    const moved = join(tempDir(), "moved to — ünïcödé");
    renameSync(dir, moved);
    const now = join(moved, "launcher");
    expect(launch(now, ["x"])[0]).toEqual([now, now, "x"]);
  });

  test("hides what is meant for other programs, and only that", () => {
    const kept = {
      A: "1", LD: "2", LDX: "3", NODE: "4", NODEX_: "5", OPENSSL: "6", openssl_conf: "7", NODE_EXTRA_CA_CERTS: "/none",
      L: "", N: "", XLD_PRELOAD: "8", "": "9", BUN: "10", BUNX_: "11",
    }; // oxfmt-ignore
    const { path } = placeLauncher();
    const hidden = {
      LD_PRELOAD: "/none.so",
      NODE_OPTIONS: "--no-such",
      NODE_: "",
      OPENSSL_CONF: "/none",
      LD_: "x",
      BUN_BE_BUN: "1",
    };
    const [, env] = launch(path, [], { ...kept, ...hidden });
    const { "": unnamed, ...named } = kept;
    void unnamed;
    expect(env).toEqual({
      ...named, "%D_PRELOAD": "/none.so", "%ODE_OPTIONS": "--no-such", "%ODE_": "", "%PENSSL_CONF": "/none", "%D_": "x",
      "%UN_BE_BUN": "1",
    }); // oxfmt-ignore
  });

  test("passes on any arguments and variables", () => {
    const { path } = placeLauncher();
    const text = fc.string({ unit: fc.constantFrom("a", " ", "'", "\n", "é", "%", "-", "/"), maxLength: 20 });
    const name = fc.stringMatching(/^[AC-KP-Z_][A-Z_0-9]{0,9}$/);
    fc.assert(
      fc.property(fc.array(text, { maxLength: 30 }), fc.dictionary(name, text), (args, env) => {
        const [givenArgs, givenEnv] = launch(path, args, { ...env });
        expect(givenArgs).toEqual([path, path, ...args]);
        expect(givenEnv).toEqual({ ...env });
      }),
      { numRuns: 25 },
    );
  });

  test("passes on a lot", () => {
    const { path } = placeLauncher();
    const long = "x".repeat(131_000);
    const [args, env] = launch(path, [long, ...Array.from({ length: 50_000 }, () => "y")], { LONG: long });
    expect([args.length, args[2]?.length, env["LONG"]?.length]).toEqual([50_003, 131_000, 131_000]);
  });

  test("says so where the kernel takes no more", () => {
    const { path } = placeLauncher();
    const call = (size: number) => {
      const args = Array.from({ length: Math.ceil(size / 100_000) }, (_, index) =>
        "x".repeat(Math.min(100_000, size - index * 100_000)),
      );
      return spawnSync(path, args, { env: {}, encoding: "utf8", maxBuffer: 100_000_000 });
    };
    // The most that the launcher itself can be started with is too much for what it adds.
    let [fits, fails] = [0, 8_000_000];
    while (fails - fits > 1) {
      const middle = Math.floor((fits + fails) / 2);
      if (call(middle).error === undefined) fits = middle;
      else fails = middle;
    }
    const ended = call(fits);
    expect(ended).toMatchObject({ status: 127, stdout: "" });
    expect(ended.stderr).toContain("(error 7)");
  });

  test("says what it cannot start, and ends with 127", () => {
    const { dir, path } = placeLauncher({ program: "/no/such/program" });
    const program = join(dir, "runtime/program");
    const ended = spawnSync(path, [], { encoding: "utf8" });
    expect(ended).toMatchObject({ status: 127, stdout: "" });
    expect(ended.stderr).toMatch(/^step-runner: cannot start .*\(error 2\)\n {2}hint: .*\n$/);
    expect(ended.stderr).toContain(program);
    const folder = placeLauncher({ program: "/" });
    expect(spawnSync(folder.path, [], { encoding: "utf8" }).stderr).toContain("(error 13)");
  });

  test("starts with no arguments at all, not even a name", () => {
    const { path } = placeLauncher();
    const { stdout } = spawnSync(process.execPath, ["-e", `process.execve(${JSON.stringify(path)}, [], { A: "1" })`], {
      encoding: "utf8",
    });
    const [args, env] = JSON.parse(stdout) as [string[], Environment];
    expect(args[0]).toBe(path);
    // Newer kernels put an empty name there.
    expect(["", undefined]).toContain(args[1]);
    expect(env).toEqual({ A: "1" });
  });

  test.skipIf(!hasProgram("busybox"))("needs little room on the stack", () => {
    const busybox = realpathSync(spawnSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).stdout.trim());
    // The name that busybox is called by tells it what to do.
    const { path } = placeLauncher({ name: "echo", program: busybox, args: [{ text: "one" }] });
    const limited = ["-c", `ulimit -s 64; exec "$0" two`, path];
    expect(spawnSync("sh", limited, { encoding: "utf8" }).stdout).toBe(`one ${path} ${path} two\n`);
  });

  test("is refused arguments that it has no room for", () => {
    const refuse = (args: readonly LauncherArgument[]) => () => placeLauncher({ args });
    expect(refuse([{ text: "x".repeat(1500) }])).toThrow(RangeError);
    expect(refuse(Array.from({ length: 4 }, () => ({ beside: "x" })))).toThrow(RangeError);
    expect(refuse([{ text: "a\0b" }])).toThrow(RangeError);
  });
});

const EMULATOR = "qemu-aarch64-static";

test.skipIf(!hasProgram(EMULATOR))("the launcher for 64-bit ARM does the same, as far as an emulator shows", () => {
  const args = [{ text: "-e" }, { text: SHOW }, { text: "--" }, { beside: "x" }];
  const { dir, path } = placeLauncher({ arch: "arm64", args });
  const env = { A: "1", LD_X: "2", NODE_X: "3", NODE_EXTRA_CA_CERTS: "4", OPENSSL_X: "5", NODE: "6" };
  const ended = spawnSync(EMULATOR, [path, "b", "", "c"], { env, encoding: "utf8" });
  const [given, environment] = JSON.parse(ended.stdout) as [string[], Environment];
  expect(given).toEqual([join(dir, "x"), path, path, "b", "", "c"]);
  expect(environment).toEqual({
    A: "1", "%D_X": "2", "%ODE_X": "3", NODE_EXTRA_CA_CERTS: "4", "%PENSSL_X": "5", NODE: "6",
  }); // oxfmt-ignore
  const broken = placeLauncher({ arch: "arm64", program: "/no/such/program" });
  const failed = spawnSync(EMULATOR, [broken.path], { encoding: "utf8" });
  expect(failed).toMatchObject({ status: 127, stdout: "" });
  expect(failed.stderr).toContain(`cannot start ${broken.dir}/runtime/program (error 2)\n  hint: `);
});
