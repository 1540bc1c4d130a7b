import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyProject } from "../src/index.ts";

let base: string;
let target: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "workspace-"));
  target = join(base, "copy");
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

function git(dir: string, ...args: string[]): string {
  const who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  return execFileSync("git", ["-C", dir, ...who, ...args], { env, encoding: "utf8" }).trim();
}

function makeProject(name: string, ...options: string[]): string {
  const project = join(base, name);
  mkdirSync(project);
  git(project, "init", "--quiet", "-b", "main", ...options);
  for (const text of ["one", "two"]) {
    writeFileSync(join(project, "file"), text);
    git(project, "add", ".");
    git(project, "commit", "--quiet", "-m", text);
  }
  return project;
}

const copy = (project: string): Promise<string> =>
  copyProject({ project, target, env, signal: new AbortController().signal });

const QUESTIONS = [
  ["log", "--format=%H %s", "--all"],
  ["branch", "--show-current"],
  ["status", "--short"],
  ["rev-parse", "HEAD", "--show-object-format", "--is-shallow-repository"],
  ["for-each-ref", "--format=%(refname) %(objectname) %(*objectname) %(symref)"],
];

function expectSame(project: string): void {
  for (const args of QUESTIONS) expect(git(target, ...args)).toBe(git(project, ...args));
  expect(git(target, "fsck", "--strict")).toBe("");
}

test("copyProject() keeps annotated tags, packed refs and the branch that the remote starts from", async () => {
  const first = makeProject("first");
  git(first, "tag", "-a", "v1", "-m", "first release");
  git(base, "clone", "--quiet", first, "second");
  const second = join(base, "second");
  git(second, "pack-refs", "--all");
  git(second, "tag", "light");
  await copy(second);
  expectSame(second);
  expect(git(target, "symbolic-ref", "refs/remotes/origin/HEAD")).toBe("refs/remotes/origin/main");
  expect(git(target, "rev-parse", "--abbrev-ref", "main@{upstream}")).toBe("origin/main");
});

test("copyProject() copies a repository with SHA-256 objects", async () => {
  const project = makeProject("project", "--object-format=sha256");
  await copy(project);
  expectSame(project);
});

test("copyProject() copies a shallow clone", async () => {
  const first = makeProject("first");
  git(base, "clone", "--quiet", "--depth=1", `file://${first}`, "second");
  await copy(join(base, "second"));
  expectSame(join(base, "second"));
});

test("copyProject() copies a linked working tree with its own branch and index", async () => {
  const project = makeProject("project");
  const linked = join(base, "linked");
  git(project, "worktree", "add", "--quiet", "-b", "other", linked);
  writeFileSync(join(linked, "staged"), "three");
  git(linked, "add", "staged");
  await copy(linked);
  expect(git(target, "branch", "--show-current")).toBe("other");
  expect(git(target, "status", "--short")).toBe("A  staged");
  expectSame(linked);
});

test("copyProject() takes addresses, branches and folders with any characters", async () => {
  const project = makeProject('a "b"\n# c\\d');
  const url = 'ssh://host/a b"c\\d#e;f';
  git(project, "remote", "add", "origin", url);
  git(project, "checkout", "--quiet", "-b", 'odd"name#1');
  await copy(project);
  expectSame(project);
  expect(git(target, "remote", "get-url", "origin")).toBe(url);
  expect(git(target, "config", 'branch.odd"name#1.merge')).toBe('refs/heads/odd"name#1');
});

test("copyProject() shares the objects of a repository that has none of its own", async () => {
  const first = makeProject("first");
  git(base, "clone", "--quiet", "--shared", first, "second");
  await copy(join(base, "second"));
  expectSame(join(base, "second"));
  git(target, "checkout", "--quiet", "HEAD^");
  expect(readFileSync(join(target, "file"), "utf8")).toBe("one");
});
