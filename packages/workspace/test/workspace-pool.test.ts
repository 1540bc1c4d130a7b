import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Snapshot, takeSnapshot, WorkspacePool, Workspaces } from "../src/index.ts";

let base: string;
let workspaces: Workspaces;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "workspace-pool-"));
  workspaces = new Workspaces(base);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const { signal } = new AbortController();

function folders(): string[] {
  return readdirSync(join(base, "workspaces"));
}

/** A snapshot of one file that counts its copies; a copy fails when `fails` says so. */
function countingSnapshot(fails: (count: number) => boolean = () => false): Snapshot & { readonly copies: string[] } {
  const copies: string[] = [];
  return {
    root: base,
    folder: base,
    isLarge: false,
    copies,
    copyTo: (target) => {
      copies.push(target);
      mkdirSync(target);
      if (fails(copies.length)) return Promise.reject(new Error("no room"));
      writeFileSync(join(target, "a"), "1");
      return Promise.resolve(target);
    },
  };
}

describe("WorkspacePool", () => {
  test("use() gives each job a copy of its own, and leaves nothing of it", async () => {
    const project = join(base, "project");
    mkdirSync(join(project, "sub"), { recursive: true });
    writeFileSync(join(project, "sub/a"), "1");
    writeFileSync(join(project, "large"), "x".repeat(300_000));
    const snapshot = await takeSnapshot({ project, target: workspaces.next(), env: process.env, signal });
    const pool = new WorkspacePool(snapshot, workspaces);
    const job = (workDir: string): Promise<string> => {
      expect(readFileSync(join(workDir, "sub/a"), "utf8")).toBe("1");
      expect(readFileSync(join(workDir, "large"), "utf8")).toHaveLength(300_000);
      writeFileSync(join(workDir, "sub/a"), "changed");
      pool.prepare();
      return Promise.resolve(workDir);
    };
    pool.expect({ waiting: 3 });
    const dirs = [];
    for (let i = 0; i < 3; i++) {
      pool.expect({ waiting: -1 });
      dirs.push(await pool.use(job, signal));
    }
    expect(new Set(dirs).size).toBe(3);
    await pool[Symbol.asyncDispose]();
    // The snapshot is left.
    expect(folders()).toHaveLength(1);
    await workspaces[Symbol.asyncDispose]();
    expect(folders()).toEqual([]);
  });

  test("prepare() makes one copy ahead, and only for a job that is expected", async () => {
    const snapshot = countingSnapshot();
    await using pool = new WorkspacePool(snapshot, workspaces);
    pool.prepare();
    expect(await pool.use((dir) => Promise.resolve(snapshot.copies.indexOf(dir)), signal)).toBe(0);
    pool.expect({ waiting: 2 });
    pool.prepare();
    pool.prepare();
    await expect.poll(() => snapshot.copies.length).toBe(2);
    expect(await pool.use((dir) => Promise.resolve(snapshot.copies.indexOf(dir)), signal)).toBe(1);
    pool.expect({ waiting: -2 });
    pool.prepare();
    expect(await pool.use((dir) => Promise.resolve(snapshot.copies.indexOf(dir)), signal)).toBe(2);
    expect(snapshot.copies).toHaveLength(3);
  });

  test("prepare() makes as many copies ahead as it may; of a large project one, for a job that is sure to run", async () => {
    const snapshot = countingSnapshot();
    await using pool = new WorkspacePool(snapshot, workspaces, { ahead: 2 });
    pool.expect({ undecided: 3 });
    pool.prepare();
    await expect.poll(() => snapshot.copies.length).toBe(2);
    const large = countingSnapshot();
    await using other = new WorkspacePool({ ...large, isLarge: true }, workspaces, { ahead: 2 });
    other.expect({ undecided: 3 });
    other.prepare();
    other.expect({ waiting: 2, undecided: -2 });
    other.prepare();
    await expect.poll(() => large.copies.length).toBeGreaterThan(0);
    expect(await other.use((dir) => Promise.resolve(dir), signal)).toBe(large.copies[0]);
    expect([snapshot.copies.length, large.copies.length]).toEqual([2, 1]);
  });

  test("use() makes a copy again that could not be made ahead, and says why that failed, too", async () => {
    const snapshot = countingSnapshot((count) => count === 1 || count === 3 || count === 4);
    await using pool = new WorkspacePool(snapshot, workspaces);
    pool.expect({ waiting: 9 });
    pool.prepare();
    const read = (dir: string): Promise<string> => Promise.resolve(readFileSync(join(dir, "a"), "utf8"));
    expect(await pool.use(read, signal)).toBe("1");
    pool.prepare();
    await expect(pool.use(read, signal)).rejects.toThrow("no room");
    await expect.poll(() => folders().length).toBe(0);
  });

  test("a helper copies and removes, and what it fails in is done without it", async () => {
    const snapshot = countingSnapshot();
    const asked: string[] = [];
    let works = true;
    const helper = {
      copyTree: (_from: string, to: string) => {
        asked.push("copy");
        mkdirSync(to);
        if (works) writeFileSync(join(to, "a"), "by the helper");
        return Promise.resolve(works);
      },
      removeTree: (path: string) => {
        asked.push("remove");
        if (works) rmSync(path, { recursive: true });
        return Promise.resolve(works);
      },
    };
    await using pool = new WorkspacePool(snapshot, workspaces, { helper });
    const read = (dir: string): Promise<string> => Promise.resolve(readFileSync(join(dir, "a"), "utf8"));
    pool.expect({ waiting: 2 });
    pool.prepare();
    expect(await pool.use(read, signal)).toBe("by the helper");
    works = false;
    pool.prepare();
    expect(await pool.use(read, signal)).toBe("1");
    expect(asked).toEqual(["copy", "remove", "copy", "remove"]);
    await expect.poll(() => folders().length).toBe(0);
  });

  test("use() does nothing for a job that was cancelled before", async () => {
    const stop = new AbortController();
    await using pool = new WorkspacePool(
      { root: base, folder: base, isLarge: false, copyTo: (_target, own) => Promise.reject(own.reason as Error) },
      workspaces,
    );
    stop.abort(new Error("enough"));
    expect(await pool.use(() => Promise.resolve("ran"), stop.signal)).toBeUndefined();
  });

  test("a copy that nobody has wanted goes with the workspaces", async () => {
    const snapshot = countingSnapshot();
    const pool = new WorkspacePool(snapshot, workspaces);
    pool.expect({ waiting: 1 });
    pool.prepare();
    await pool[Symbol.asyncDispose]();
    pool.prepare();
    await workspaces[Symbol.asyncDispose]();
    expect(snapshot.copies.length).toBeLessThan(2);
    expect(folders()).toEqual([]);
  });
});
