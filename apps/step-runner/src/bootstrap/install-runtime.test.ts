import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { installRuntime, makeFolder } from "./install-runtime.ts";
import { readManifest, type RuntimeSource } from "./runtime-source.ts";
import { markSuperseded, sweepRuntimes } from "./sweep-runtimes.ts";

const DAY_MS = 86_400_000;

function createSource(texts: Readonly<Record<string, string>>): RuntimeSource {
  const dir = tempDir();
  const files = Object.entries(texts).map(([path, text]) => {
    mkdirSync(join(dir, path, ".."), { recursive: true });
    writeFileSync(join(dir, path), text, { mode: 0o600 });
    return { path, bytes: Buffer.byteLength(text), sha256: createHash("sha256").update(text).digest("hex") };
  });
  const digest = createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16);
  return {
    manifest: { version: "1", node: "v1", digest, loaderArgs: [], files },
    sourceOf: ({ path }) => join(dir, path),
  };
}

const TEXTS = { "ld.so": "loader", node: "node", "lib/libc.so.6": "c", "app/main.cjs": "main" };
const mode = (path: string): number => statSync(path).mode & 0o7777;

describe("installRuntime()", () => {
  test("copies all files, readable by everybody", () => {
    const source = createSource(TEXTS);
    const dir = tempDir();
    chmodSync(dir, 0o755);
    const umask = process.umask(0o077);
    try {
      const name = installRuntime(source, { dir, launcher: "x" });
      expect(readdirSync(dir)).toEqual([`.x-runtime-${source.manifest.digest}`]);
      expect(name).toBe(`.x-runtime-${source.manifest.digest}`);
      for (const [path, text] of Object.entries(TEXTS)) expect(readFileSync(join(dir, name, path), "utf8")).toBe(text);
      expect(readManifest(join(dir, name))).toEqual(source.manifest);
      for (const path of ["", "ld.so", "node", "lib", "lib/libc.so.6", "app"])
        expect(mode(join(dir, name, path))).toBe(0o755);
      for (const path of ["app/main.cjs", "runtime.json"]) expect(mode(join(dir, name, path))).toBe(0o644);
    } finally {
      process.umask(umask);
    }
  });

  test("never shares a file with the original", () => {
    const source = createSource(TEXTS);
    const dir = tempDir();
    const name = installRuntime(source, { dir, launcher: "x" });
    const [file] = source.manifest.files;
    expect(statSync(source.sourceOf(file as NonNullable<typeof file>)).nlink).toBe(1);
    expect(statSync(join(dir, name, "node")).nlink).toBe(1);
  });

  test("takes one that is there, and replaces one that is not whole", () => {
    const source = createSource(TEXTS);
    const dir = tempDir();
    const copied: number[] = [];
    const install = (): string => installRuntime(source, { dir, launcher: "x", onCopy: (bytes) => copied.push(bytes) });
    const name = install();
    const before = statSync(join(dir, name)).ino;
    expect(install()).toBe(name);
    expect([copied, statSync(join(dir, name)).ino]).toEqual([[15], before]);
    truncateSync(join(dir, name, "node"), 1);
    expect(install()).toBe(name);
    expect([copied, readFileSync(join(dir, name, "node"), "utf8")]).toEqual([[15, 15], "node"]);
    expect(readdirSync(dir)).toEqual([name]);
  });

  test("leaves nothing behind when it fails", () => {
    const source = createSource(TEXTS);
    const dir = tempDir();
    const gone = { ...source, sourceOf: () => "/no/such/file" };
    expect(() => installRuntime(gone, { dir, launcher: "x" })).toThrow("ENOENT");
    const shrunk = {
      ...source,
      manifest: { ...source.manifest, files: source.manifest.files.map((file) => ({ ...file, bytes: 99 })) },
    };
    expect(() => installRuntime(shrunk, { dir, launcher: "x" })).toThrow("not as long as it should be");
    expect(readdirSync(dir)).toEqual([]);
  });
});

test("makeFolder() makes folders that everybody may read and leaves others alone", () => {
  const dir = tempDir();
  const umask = process.umask(0o077);
  try {
    makeFolder(join(dir, "a/b/c"));
  } finally {
    process.umask(umask);
  }
  expect([dir, join(dir, "a"), join(dir, "a/b"), join(dir, "a/b/c")].map(mode)).toEqual([0o700, 0o755, 0o755, 0o755]);
});

describe("runtimes that are not needed any more", () => {
  const place = (): { dir: string; launcher: string } => ({ dir: tempDir(), launcher: "x" });

  function makeRuntime(dir: string, name: string, ageMs: number): void {
    mkdirSync(join(dir, name));
    const time = new Date(Date.now() - ageMs);
    utimesSync(join(dir, name), time, time);
  }

  test("go a day after they were replaced", () => {
    const here = place();
    for (const [name, ageMs] of [[".x-runtime-1", 2 * DAY_MS], [".x-runtime-2", DAY_MS / 2], [".x-runtime-draft-3", 2 * DAY_MS], [".y-runtime-4", 9 * DAY_MS], [".x-runtime-now", 9 * DAY_MS]] as const) makeRuntime(here.dir, name, ageMs); // oxfmt-ignore
    sweepRuntimes(here, ".x-runtime-now");
    expect(readdirSync(here.dir).toSorted()).toEqual([".x-runtime-2", ".x-runtime-now", ".y-runtime-4"]);
  });

  test("have a day from the moment the launcher changes", () => {
    const here = place();
    for (const name of [".x-runtime-1", ".x-runtime-2", ".x-runtime-3"]) makeRuntime(here.dir, name, 9 * DAY_MS);
    writeFileSync(join(here.dir, "x"), "...\0.x-runtime-2/ld.so\0...");
    markSuperseded(here, ".x-runtime-3");
    sweepRuntimes(here, ".x-runtime-3");
    expect(readdirSync(here.dir).toSorted()).toEqual([".x-runtime-2", ".x-runtime-3", "x"]);
  });

  test("stay while a process runs in them", async () => {
    const here = place();
    makeRuntime(here.dir, ".x-runtime-1", 0);
    const program = join(here.dir, ".x-runtime-1/program");
    copyFileSync(spawnSync("sh", ["-c", "command -v sleep"], { encoding: "utf8" }).stdout.trim(), program);
    chmodSync(program, 0o755);
    const child = spawn(program, ["100"]);
    try {
      await new Promise((resolve) => child.once("spawn", resolve));
      utimesSync(join(here.dir, ".x-runtime-1"), new Date(0), new Date(0));
      sweepRuntimes(here, ".x-runtime-2");
      expect(existsSync(program)).toBe(true);
    } finally {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    }
    sweepRuntimes(here, ".x-runtime-2");
    expect(readdirSync(here.dir)).toEqual([]);
  });
});
