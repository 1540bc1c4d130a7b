import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeFifos } from "../output/fifos.ts";
import { Reaper } from "./reaper.ts";

const WAIT = { timeout: 20_000, interval: 10 };

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "steps-reaper-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** The processes whose arguments hold a text. */
function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => argumentsOf(pid).includes(text));
}

function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

test("makes pipes, many at once, and goes without running its program", async () => {
  const dir = tempDir();
  const witness = join(dir, "witness");
  const reaper = new Reaper(["touch", witness]);
  const made = await makeFifos(dir, 20, reaper);
  expect(made).toHaveLength(20);
  for (const { stdout, stderr } of made) expect([existsSync(stdout), existsSync(stderr)]).toEqual([true, true]);
  reaper[Symbol.dispose]();
  await vi.waitUntil(() => processesWith(witness).length === 0, WAIT);
  expect(existsSync(witness)).toBe(false);
  expect(reaper.makePipes(dir)).toBeUndefined();
});

test("removeTree() removes folders beside the making of pipes, and says what it could not remove", async () => {
  const dir = tempDir();
  using reaper = new Reaper([]);
  const folders = ["a b", "it's", "$HOME", "-rf", "a cp 1"].map((name) => join(dir, name));
  for (const folder of folders) mkdirSync(join(folder, "inner/$(touch x)"), { recursive: true });
  const removed = Promise.all(folders.map((folder) => reaper.removeTree(folder)));
  expect(await makeFifos(dir, 3, reaper)).toHaveLength(3);
  expect(await removed).toEqual(folders.map(() => true));
  for (const folder of folders) expect(existsSync(folder)).toBe(false);
  expect(await reaper.removeTree("/proc/self/fd")).toBe(false);
  expect(reaper.removeTree("relative")).toBeUndefined();
  expect(reaper.removeTree(`${dir}/two\n/lines`)).toBeUndefined();
});

test("copyTree() copies a folder as it is, and says when it could not", async () => {
  const dir = tempDir();
  using reaper = new Reaper([]);
  const from = join(dir, "x rm 2 ", "from");
  mkdirSync(join(from, "inner"), { recursive: true });
  writeFileSync(join(from, "inner/run"), "1", { mode: 0o751 });
  utimesSync(join(from, "inner/run"), 1_000_000, 1_000_000);
  symlinkSync("inner/run", join(from, "link"));
  const targets = ["to", "to cp 3 /x", "it's"].map((name) => join(dir, name.replaceAll("/", "_")));
  expect(await Promise.all(targets.map((to) => reaper.copyTree(from, to)))).toEqual([true, true, true]);
  for (const to of [...targets, from]) {
    const { mode, mtimeMs } = statSync(join(to, "inner/run"));
    expect([mode & 0o777, mtimeMs, readlinkSync(join(to, "link"))]).toEqual([0o751, 1_000_000_000, "inner/run"]);
  }
  expect(await reaper.copyTree(join(dir, "none"), join(dir, "copy"))).toBe(false);
  expect(await reaper.copyTree(from, join(dir, "no/folder"))).toBe(false);
  expect(await makeFifos(dir, 1, reaper)).toHaveLength(1);
});

test("a reaper leaves no ended process behind while it goes on", async () => {
  const dir = tempDir();
  using reaper = new Reaper(["true", dir]);
  for (let i = 0; i < 20; i++) expect(await reaper.removeTree(join(dir, `none-${i}`))).toBe(true);
  const [shell] = processesWith(dir).filter((pid) => argumentsOf(pid).includes("steps-reaper"));
  const children = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim();
  // The last one is taken leave of with the next.
  expect(children.split(" ").length).toBeLessThanOrEqual(2);
});

test("a reaper that was killed is done without", async () => {
  const dir = tempDir();
  const reaper = new Reaper(["touch", join(dir, "witness")]);
  await vi.waitUntil(() => processesWith(`${dir}/witness`).length === 1, WAIT);
  for (const pid of processesWith(`${dir}/witness`)) process.kill(pid, "SIGKILL");
  expect(await makeFifos(dir, 2, reaper)).toHaveLength(2);
  expect((await reaper.removeTree(dir)) ?? false).toBe(false);
  reaper[Symbol.dispose]();
});

test("runs its program when its user is killed, with hardly anything of the user's environment", async () => {
  const dir = tempDir();
  const url = new URL("reaper.ts", import.meta.url).href;
  const text = `import { Reaper } from ${JSON.stringify(url)};
    new Reaper(["sh", "-c", 'env >"$1/draft"; mv "$1/draft" "$1/env"', "sh", ${JSON.stringify(dir)}]);
    setTimeout(() => process.kill(process.pid, "SIGKILL"), 100);`;
  const env = { PATH: process.env["PATH"], HOME: "/home/somebody", CANARY: "c4nary", STEP_RUNNER_COOKIE: "outer" };
  const args = ["--conditions=steps-source", "--input-type=module", "-e", text];
  const child = spawn(process.execPath, args, { env, stdio: "ignore" });
  await once(child, "exit");
  await vi.waitUntil(() => existsSync(join(dir, "env")), WAIT);
  const found = readFileSync(join(dir, "env"), "utf8");
  expect(found).toContain("HOME=/home/somebody\n");
  expect(found).not.toMatch(/CANARY|COOKIE/);
});

test("runs its program when its user is killed while it makes pipes for it", async () => {
  const dir = tempDir();
  // Comes back when nobody is there to take the answer.
  const slow = `#!/bin/sh\nkill -9 $(cat ${dir}/user)\nwhile kill -0 $(cat ${dir}/user); do sleep 0.02; done\n`;
  writeFileSync(join(dir, "mkfifo"), slow, { mode: 0o755 });
  const url = new URL("reaper.ts", import.meta.url).href;
  const text = `import { Reaper } from ${JSON.stringify(url)};
    import { writeFileSync } from "node:fs";
    const dir = ${JSON.stringify(dir)};
    writeFileSync(dir + "/user", String(process.pid));
    await new Reaper(["touch", dir + "/witness"]).makePipes(dir);`;
  const args = ["--conditions=steps-source", "--input-type=module", "-e", text];
  const env = { PATH: `${dir}:${process.env["PATH"]}` };
  await once(spawn(process.execPath, args, { env, stdio: "ignore" }), "exit");
  await vi.waitUntil(() => existsSync(join(dir, "witness")), WAIT);
});
