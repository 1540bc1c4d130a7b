import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import {
  closeRunDirectories,
  createRunDirectory,
  isAlive,
  isClosed,
  listRuns,
  ownerOf,
  removeTemporary,
} from "./run-directory.ts";

describe("run directories", () => {
  test("are private, unique and listed with the newest first", async () => {
    const state = join(tempDir(), "state");
    const made = [];
    for (let index = 0; index < 3; index += 1) {
      made.push(createRunDirectory(state));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(listRuns(state).map(({ traceId }) => traceId)).toEqual(made.map(({ traceId }) => traceId).toReversed());
    expect(new Set(made.map(({ traceId }) => traceId)).size).toBe(3);
    for (const { path, tmp } of made) {
      expect(statSync(path).mode & 0o777).toBe(0o700);
      expect(existsSync(tmp)).toBe(true);
    }
  });

  test("are alive while their process is, and closed when they were closed", () => {
    const state = join(tempDir(), "state");
    const run = createRunDirectory(state);
    expect([isAlive(run), isClosed(run)]).toEqual([true, false]);
    closeRunDirectories([run], state);
    expect(isClosed(run)).toBe(true);
  });

  test("lose what their steps needed, also folders that may not be written to", () => {
    const run = createRunDirectory(join(tempDir(), "state"));
    mkdirSync(join(run.tmp, "mod/inner"), { recursive: true });
    writeFileSync(join(run.tmp, "mod/inner/file"), "");
    chmodSync(join(run.tmp, "mod/inner"), 0o500);
    chmodSync(join(run.tmp, "mod"), 0o500);
    removeTemporary(run);
    expect(existsSync(run.tmp)).toBe(false);
  });

  test("are not alive when another process got their number", async () => {
    const state = join(tempDir(), "state");
    const run = createRunDirectory(state);
    const owner = join(run.path, "owner");
    const [, startTime, boot] = readFileSync(owner, "utf8").split(" ");
    const other = spawn("sleep", ["60"]);
    writeFileSync(owner, `${other.pid} ${startTime} ${boot}`);
    expect(isAlive(run)).toBe(false);
    writeFileSync(owner, `${process.pid} ${startTime} another-boot`);
    expect(isAlive(run)).toBe(false);
    other.kill("SIGKILL");
    await once(other, "exit");
    for (const text of ["", "0 0 0", "-1", "x", "99999999999 1 1"]) {
      writeFileSync(owner, text);
      expect(isAlive(run), text).toBe(false);
    }
  });

  test("of old runs are given to a reaper together, and removed here where there is none", () => {
    const state = join(tempDir(), "state");
    const runs = Array.from({ length: 130 }, () => createRunDirectory(state));
    for (const { path } of runs) writeFileSync(join(path, "owner"), "4194305 1 boot");
    mkdirSync(join(state, "runs/forgotten-by-a-killed-one"));
    const asked: string[] = [];
    const removeTree = (path: string): Promise<boolean> => {
      asked.push(path);
      return Promise.resolve(true);
    };
    closeRunDirectories(runs.slice(100), state, { reaper: { removeTree } });
    expect(asked.map((path) => readdirSync(path).length).toSorted((a, b) => a - b)).toEqual([0, 30]);
    expect(listRuns(state)).toHaveLength(100);
    closeRunDirectories(
      Array.from({ length: 10 }, () => createRunDirectory(state)),
      state,
    );
    expect(asked.map((path) => existsSync(path))).toEqual([false, false]);
  });

  test("of old runs are forgotten; those that still run, or have just ended in a process that lives, are not", () => {
    const state = join(tempDir(), "state");
    const running = createRunDirectory(state);
    const justEnded = createRunDirectory(state);
    closeRunDirectories([justEnded], state);
    const longEnded = createRunDirectory(state);
    closeRunDirectories([longEnded], state);
    utimesSync(join(longEnded.path, "closed"), 1, 1);
    for (let index = 0; index < 130; index += 1) {
      const run = createRunDirectory(state);
      writeFileSync(join(run.path, "owner"), "4194305 1 boot");
      closeRunDirectories([run], state);
    }
    expect([running, justEnded, longEnded].map(({ path }) => existsSync(path))).toEqual([true, true, false]);
    const left = listRuns(state).length;
    expect(left).toBeGreaterThanOrEqual(102);
    expect(left).toBeLessThanOrEqual(112);
  });

  test("leave alone what is not a run", () => {
    const state = join(tempDir(), "state");
    const run = createRunDirectory(state);
    mkdirSync(join(state, "runs/mine"));
    expect(listRuns(state)).toEqual([run]);
  });
});

describe("ownerOf", () => {
  test("a process that has ended and is not waited for yet is none", async () => {
    // The child ends at the end of our pipe and stays, since exec leaves nobody who waits for it.
    const script = "exec 3<&0; cat <&3 >/dev/null & echo $!; exec sleep 30 3<&- </dev/null";
    const parent = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] });
    try {
      const [chunk] = (await once(parent.stdout, "data")) as [Buffer];
      const pid = Number(String(chunk));
      // A shell that is still there would wait for its child.
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, "latin1")).toBe("sleep\n");
      parent.stdin.end();
      const isZombie = (): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
      while (!isZombie()) await new Promise((resolve) => setTimeout(resolve, 10));
      expect(ownerOf(pid)).toBe("");
      expect(ownerOf(parent.pid as number)).toMatch(new RegExp(`^${parent.pid} \\d+ `));
      expect(ownerOf(process.pid)).not.toBe("");
    } finally {
      parent.kill("SIGKILL");
    }
  });
});
