import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
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
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyProject, planCopy, takeSnapshot, Workspaces } from "../src/index.ts";

let base: string;
let project: string;
let target: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "workspace-"));
  project = join(base, "project");
  target = join(base, "copy");
  mkdirSync(project);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

function git(dir: string, ...args: string[]): string {
  const who = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"];
  return execFileSync("git", ["-C", dir, ...who, ...args], { env, encoding: "utf8" }).trim();
}

function write(path: string, text: string): void {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const copy = (from = project): Promise<string> =>
  copyProject({ project: from, target, env, signal: new AbortController().signal });

function files(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((path) => !path.startsWith(".git/") && path !== ".git" && !statSync(join(dir, path)).isDirectory())
    .toSorted();
}

describe("copyProject()", () => {
  test("copies tracked, changed and new files, and neither ignored nor deleted ones", async () => {
    git(project, "init", "--quiet", "-b", "main");
    write(".gitignore", "ignored\nout/\n");
    write("kept", "1");
    write("changed", "1");
    write("deleted", "1");
    git(project, "add", ".");
    git(project, "commit", "--quiet", "-m", "one");
    write("changed", "2");
    write("new file\nof two lines", "3");
    write("ignored", "4");
    write("out/x", "5");
    rmSync(join(project, "deleted"));
    expect(await copy()).toBe(target);
    expect(files(target)).toEqual([".gitignore", "changed", "kept", "new file\nof two lines"]);
    expect(readFileSync(join(target, "changed"), "utf8")).toBe("2");
  });

  test("keeps modes, times and links, and copies no pipe", async () => {
    git(project, "init", "--quiet");
    write("bin/run", "#!/bin/sh\n");
    chmodSync(join(project, "bin/run"), 0o755);
    utimesSync(join(project, "bin/run"), 1_000_000, 1_000_000);
    symlinkSync("bin/run", join(project, "link"));
    symlinkSync("/nowhere", join(project, "dangling"));
    execFileSync("mkfifo", [join(project, "pipe")]);
    await copy();
    expect(statSync(join(target, "bin/run")).mode & 0o777).toBe(0o755);
    expect(statSync(join(target, "bin/run")).mtimeMs).toBe(1_000_000_000);
    expect(readlinkSync(join(target, "link"))).toBe("bin/run");
    expect(lstatSync(join(target, "dangling")).isSymbolicLink()).toBe(true);
    expect(existsSync(join(target, "pipe"))).toBe(false);
  });

  test("gives the copy a repository of its own, in the same state", async () => {
    git(base, "init", "--quiet", "--bare", "remote.git");
    git(project, "init", "--quiet", "-b", "main");
    write("a", "1");
    git(project, "add", ".");
    git(project, "commit", "--quiet", "-m", "one");
    git(project, "tag", "v1");
    git(project, "remote", "add", "origin", join(base, "remote.git"));
    git(project, "push", "--quiet", "origin", "main");
    git(project, "checkout", "--quiet", "-b", "feature");
    write("a", "2");
    write("b", "staged");
    git(project, "add", "b");
    await copy();
    for (const args of [
      ["rev-parse", "HEAD"],
      ["branch", "--show-current"],
      ["status", "--short"],
      ["remote", "get-url", "origin"],
      ["for-each-ref", "--format=%(refname) %(objectname)"],
    ]) {
      expect(git(target, ...args)).toBe(git(project, ...args));
    }
    git(target, "commit", "--quiet", "-am", "in the copy");
    git(target, "tag", "v2");
    expect(git(project, "tag")).toBe("v1");
    expect(git(project, "status", "--short")).toBe("M a\nA  b");
  });

  test("copies the whole repository of a folder, and gives the place of the folder in it", async () => {
    git(project, "init", "--quiet");
    write("sub/dir/x", "1");
    write("y", "2");
    expect(await copy(join(project, "sub/dir"))).toBe(join(target, "sub/dir"));
    expect(files(target)).toEqual(["sub/dir/x", "y"]);
  });

  test("copies a repository without a commit, and one whose HEAD is no branch", async () => {
    git(project, "init", "--quiet");
    write("a", "1");
    await copy();
    expect(files(target)).toEqual(["a"]);
    rmSync(target, { recursive: true });
    git(project, "add", ".");
    git(project, "commit", "--quiet", "-m", "one");
    git(project, "checkout", "--quiet", "--detach");
    await copy();
    expect(git(target, "rev-parse", "HEAD")).toBe(git(project, "rev-parse", "HEAD"));
    expect(git(target, "status", "--short")).toBe("");
  });

  test("copies the files of a submodule that is checked out", async () => {
    const inner = join(base, "inner");
    mkdirSync(inner);
    git(inner, "init", "--quiet");
    writeFileSync(join(inner, "s"), "1");
    git(inner, "add", ".");
    git(inner, "commit", "--quiet", "-m", "one");
    git(project, "init", "--quiet");
    git(project, "submodule", "--quiet", "add", inner, "mod");
    writeFileSync(join(project, "mod/new"), "2");
    await copy();
    expect(files(target)).toEqual([".gitmodules", "mod/new", "mod/s"]);
  });

  test("copies all files where there is no repository", async () => {
    write("a/b", "1");
    write("c", "2");
    expect(await copy()).toBe(target);
    expect(files(target)).toEqual(["a/b", "c"]);
  });

  test("runs no hook of the project and ends when it is told to", async () => {
    git(project, "init", "--quiet");
    write("a", "1");
    write(".git/hooks/post-checkout", `#!/bin/sh\ntouch ${base}/hooked\n`);
    chmodSync(join(project, ".git/hooks/post-checkout"), 0o755);
    await copy();
    expect(existsSync(join(base, "hooked"))).toBe(false);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(copyProject({ project, target: `${target}2`, env, signal })).rejects.toThrow("enough");
  });

  test("says which file it cannot read", async () => {
    await expect(copy(join(base, "none"))).rejects.toMatchObject({ code: "WORKSPACE_IO" });
  });
});

describe("planCopy()", () => {
  test("planCopy() tells the folder before there is one, and how far the copy is", async () => {
    write("sub/a", "1");
    write("sub/b", "2");
    const { signal } = new AbortController();
    const planned = await planCopy({ project, target, env, signal });
    expect(planned).toMatchObject({ folder: target, isRepository: false });
    expect(existsSync(target)).toBe(false);
    const seen: unknown[] = [];
    await planned.make((progress) => seen.push(progress));
    expect(seen).toEqual([
      { files: 0, of: 2 },
      { files: 1, of: 2 },
    ]);
    expect(files(target)).toEqual(["sub/a", "sub/b"]);
  });

  test("planCopy() does not copy the copy into itself", async () => {
    write("a", "1");
    const inner = join(project, "state/copy/project");
    mkdirSync(dirname(inner), { recursive: true });
    const { signal } = new AbortController();
    await (await planCopy({ project, target: inner, env, signal })).make();
    expect(files(inner)).toEqual(["a"]);
  });
});

describe("takeSnapshot()", () => {
  const signal = new AbortController().signal;
  const take = (from = project): ReturnType<typeof takeSnapshot> =>
    takeSnapshot({ project: from, target, env, signal });

  test("takeSnapshot() keeps the state of one moment for every copy", async () => {
    git(project, "init", "--quiet", "-b", "main");
    write("sub/a", "1");
    write("bin/run", "#!/bin/sh\n");
    chmodSync(join(project, "bin/run"), 0o755);
    utimesSync(join(project, "bin/run"), 1_000_000, 1_000_000);
    symlinkSync("a", join(project, "sub/link"));
    git(project, "add", ".");
    git(project, "commit", "--quiet", "-m", "one");
    git(project, "tag", "v1");
    write("sub/new", "2");
    const snapshot = await take(join(project, "sub"));
    write("sub/a", "edited meanwhile");
    git(project, "commit", "--quiet", "-am", "two");
    const first = await snapshot.copyTo(join(base, "first"), signal);
    expect(first).toBe(join(base, "first/sub"));
    writeFileSync(join(first, "a"), "of a job");
    git(first, "commit", "--quiet", "-am", "of a job");
    const second = await snapshot.copyTo(join(base, "second"), signal);
    expect(files(join(base, "second"))).toEqual(["bin/run", "sub/a", "sub/link", "sub/new"]);
    expect(readFileSync(join(second, "a"), "utf8")).toBe("1");
    expect(readlinkSync(join(second, "link"))).toBe("a");
    expect(statSync(join(base, "second/bin/run")).mode & 0o777).toBe(0o755);
    expect(statSync(join(base, "second/bin/run")).mtimeMs).toBe(1_000_000_000);
    expect(git(second, "log", "--format=%s %D")).toBe("one HEAD -> main, tag: v1");
    expect(git(second, "status", "--short")).toBe("?? new");
  });

  test("takeSnapshot() says what it cannot copy, and a copy ends when it is told to", async () => {
    write("a", "1");
    const snapshot = await take();
    await expect(snapshot.copyTo(join(base, "none/copy"), signal)).rejects.toMatchObject({ code: "WORKSPACE_IO" });
    const stopped = AbortSignal.abort(new Error("enough"));
    await expect(snapshot.copyTo(join(base, "stopped"), stopped)).rejects.toThrow("enough");
  });
});

describe("Workspaces", () => {
  test("gives each job a folder, and removes them all, also those that are closed", async () => {
    const workspaces = new Workspaces(base);
    const [first, second] = [workspaces.next(), workspaces.next()];
    expect(first).not.toBe(second);
    mkdirSync(join(first, "closed/inner"), { recursive: true });
    writeFileSync(join(first, "closed/inner/x"), "1");
    chmodSync(join(first, "closed"), 0o000);
    await workspaces[Symbol.asyncDispose]();
    expect(readdirSync(join(base, "workspaces"))).toEqual([]);
  });

  test("sweeps what killed processes left, and nothing of those that run", async () => {
    const own = new Workspaces(base);
    const mine = own.next();
    mkdirSync(mine);
    const name = readdirSync(join(base, "workspaces"))[0] as string;
    const [boot, namespace, , start, host] = name.split(".");
    const gone = execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }).trim();
    mkdirSync(join(base, "workspaces", [boot, namespace, gone, start, host, 0].join("."), "project"), {
      recursive: true,
    });
    await new Workspaces(base).sweep();
    expect(readdirSync(join(base, "workspaces"))).toEqual([name]);
    await own.remove(mine);
    expect(readdirSync(join(base, "workspaces"))).toEqual([]);
  });
});
