import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, test } from "vitest";

const scratch = mkdtempSync(join(tmpdir(), "steps-kept-code-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const built = join(import.meta.dirname, "..", "dist");

// Tells of each script that was given kept code whether V8 refused it.
const hook = join(scratch, "hook.cjs");
writeFileSync(
  hook,
  `const vm = require("node:vm");
const { Script } = vm;
const refused = [];
vm.Script = class extends Script {
  constructor(text, options) {
    super(text, options);
    if (options.cachedData) refused.push(this.cachedDataRejected);
  }
};
process.on("exit", () => require("node:fs").writeFileSync(process.env.REFUSED, JSON.stringify(refused)));
`,
);

function runCopy(name: string, change: (dist: string) => void): { output: string; refused: boolean[]; dist: string } {
  const dist = join(scratch, name, "dist");
  cpSync(built, dist, { recursive: true });
  change(dist);
  const report = join(scratch, name, "refused.json");
  const done = spawnSync(process.execPath, ["--require", hook, join(dist, "main.cjs"), "ci", "--quiet"], {
    cwd: join(scratch, name),
    env: { PATH: process.env["PATH"], HOME: join(scratch, name), STEPS: '[{script: "echo it runs"}]', REFUSED: report },
    encoding: "utf8",
  });
  expect(done.stderr).toBe("");
  return { output: done.stdout, refused: JSON.parse(readFileSync(report, "utf8")) as boolean[], dist };
}

describe("code.bin", () => {
  test("spares V8 the compilation of what a run needs", () => {
    const { output, refused } = runCopy("whole", () => {});
    expect(output).toBe("it runs\n");
    expect(refused.length).toBeGreaterThan(5);
    expect(refused.every((one) => !one)).toBe(true);
  });

  test("is not written by a run", () => {
    const before = (dist: string): string[] => readdirSync(dist).toSorted();
    const { dist } = runCopy("unwritten", () => {});
    expect(before(dist)).toEqual(before(built));
    expect(readFileSync(join(dist, "code.bin")).equals(readFileSync(join(built, "code.bin")))).toBe(true);
  });

  test.each([
    ["is not there", (path: string) => rmSync(path)],
    ["is empty", (path: string) => writeFileSync(path, "")],
    ["is no such file", (path: string) => writeFileSync(path, "\u00ff".repeat(100))],
    ["is of another V8", (path: string) => writeFileSync(path, otherVersion(readFileSync(path)))],
  ])("is done without where it %s", (name, change) => {
    const { output, refused } = runCopy(name.replaceAll(" ", "-"), (dist) => change(join(dist, "code.bin")));
    expect(output).toBe("it runs\n");
    expect(refused).toEqual([]);
  });
});

function otherVersion(pack: Buffer): Buffer {
  return Buffer.from(pack.toString("latin1").replace(/"v8":"./, '"v8":"x'), "latin1");
}

// Node prints a warning at the first dynamic import of a chunk that is loaded with kept code.
test.each(["step-runner", "runner-bridge", "pod"])("no chunk of %s imports a module of Node dynamically", (app) => {
  const dist = join(built, "../..", app, "dist");
  const chunks = readdirSync(dist).filter((name) => name.endsWith(".cjs"));
  expect(chunks.length).toBeGreaterThan(5);
  expect(chunks.filter((name) => /\bimport\(["'`]node:/.test(readFileSync(join(dist, name), "utf8")))).toEqual([]);
});
