import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { hashFiles } from "./hash-files.ts";

let root = "";
let workspace = "";

beforeEach(() => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "hash-files-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  root = dir;
  workspace = join(root, "work");
  mkdirSync(workspace);
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

function sha256(content: string | Uint8Array): Uint8Array {
  return createHash("sha256").update(content).digest();
}

/** The hash that files with these contents, in this order, must give. */
function hashOf(...contents: string[]): string {
  return contents.length === 0 ? "" : Buffer.from(sha256(Buffer.concat(contents.map(sha256)))).toString("hex");
}

function hash(...patterns: string[]): string {
  return hashFiles(patterns, { workspace });
}

describe("the digest", () => {
  test("is over the digests of the files, as bytes", () => {
    write({ "a.txt": "A" });
    // printf A | sha256sum | xxd -r -p | sha256sum
    expect(hash("a.txt")).toBe("1cd6ef71e6e0ff46ad2609d403dc3fee244417089aa4461245a4e4fe23a55e42");
    expect(hash("a.txt")).toBe(hashOf("A"));
  });

  test("is empty where nothing matches, or nothing is", () => {
    write({ "dir/a": "A" });
    expect(hash("*.lock")).toBe("");
    expect(hash("")).toBe("");
    expect(hash("missing/**")).toBe("");
    expect(hash("dir/a/b")).toBe("");
    expect(hashFiles(["**"], { workspace: join(root, "missing") })).toBe("");
  });

  test("of an empty file is not empty", () => {
    write({ a: "" });
    expect(hash("a")).toBe(hashOf(""));
  });

  test("takes files in the order of a walk: the bytes of names, depth first", () => {
    write({ b: "2", "a/z": "1z", "a/b/c": "1bc", "a.txt": "1.", B: "0B", "\u{ff5e}": "4", "\u{1f600}": "5", ä: "3" });
    expect(hash("**")).toBe(hashOf("0B", "1bc", "1z", "1.", "2", "3", "4", "5"));
  });

  test("follows the order of patterns where they begin in different folders", () => {
    write({ "x/1": "x1", "y/1": "y1" });
    expect(hash("y/*", "x/*")).toBe(hashOf("y1", "x1"));
    expect(hash("x/*\ny/*")).toBe(hashOf("x1", "y1"));
  });

  test("counts a file once", () => {
    write({ "x/1": "x1" });
    expect(hash("x/*", "x/1", "**")).toBe(hashOf("x1"));
  });

  test("leaves out what a later pattern excludes, and takes what a still later one includes again", () => {
    write({ "a/1": "1", "a/2": "2", "a/n/3": "3" });
    expect(hash("**", "!a/1")).toBe(hashOf("2", "3"));
    expect(hash("a", "!a/n", "a/n/3")).toBe(hashOf("1", "2", "3"));
    expect(hash("# a comment", "a", "!**/n/**")).toBe(hashOf("1", "2"));
  });

  test("takes all that is below a folder that matches, hidden files too", () => {
    write({ "a/.hidden": "h", "a/b/c": "c" });
    expect(hash("a")).toBe(hashOf("h", "c"));
    expect(hash("a/")).toBe(hashOf("h", "c"));
  });

  test("is the same for absolute patterns", () => {
    write({ "a/1": "1" });
    expect(hash(join(workspace, "a/*"))).toBe(hashOf("1"));
  });

  test("reads a file of several chunks to its end", () => {
    const content = "0123456789".repeat(70_000);
    write({ big: content, small: "s" });
    expect(hash("big", "small")).toBe(hashOf(content, "s"));
  });
});

describe("what is outside of the workspace", () => {
  test("is left out", () => {
    writeFileSync(join(root, "secret"), "s");
    mkdirSync(join(root, "work-2"));
    writeFileSync(join(root, "work-2/file"), "s");
    write({ a: "A" });
    expect(hash(join(root, "secret"))).toBe("");
    expect(hash(`${root}/**`)).toBe(hashOf("A"));
    expect(hash(`${workspace}-2/**`)).toBe("");
    expect(hash("/etc/passwd")).toBe("");
    expect(hash("~/.ssh/**")).toBe("");
  });

  test("is refused where it is named by dots", () => {
    expect(() => hash("../secret")).toThrow(expect.objectContaining({ code: "EXPRESSION_FAILED" }));
  });
});

describe("links", () => {
  test("to folders are entered when that is asked for", () => {
    write({ "real/f": "F" });
    symlinkSync("real", join(workspace, "also"));
    expect(hash("**")).toBe(hashOf("F"));
    expect(hash("also/**")).toBe("");
    expect(hash("--follow-symbolic-links", "**")).toBe(hashOf("F", "F"));
    expect(hash("--FOLLOW-symbolic-links", "also")).toBe(hashOf("F"));
  });

  test("to files stand for them", () => {
    write({ f: "F" });
    symlinkSync("f", join(workspace, "g"));
    expect(hash("*")).toBe(hashOf("F", "F"));
  });

  test("in circles are followed once", () => {
    write({ "a/f": "F", "b/g": "G" });
    symlinkSync("..", join(workspace, "a/up"));
    symlinkSync(".", join(workspace, "b/self"));
    symlinkSync("loop2", join(workspace, "loop1"));
    symlinkSync("loop1", join(workspace, "loop2"));
    expect(hash("--follow-symbolic-links", "**")).toBe(hashOf("F", "G"));
  });

  test("that lead nowhere are left out when links are followed, and said when not", () => {
    write({ f: "F" });
    symlinkSync("missing", join(workspace, "broken"));
    expect(hash("--follow-symbolic-links", "**")).toBe(hashOf("F"));
    expect(() => hash("**")).toThrow(/broken/);
  });

  test("in the way to the workspace do not hide it", () => {
    write({ "a/f": "F" });
    symlinkSync("work", join(root, "link"));
    const linked = join(root, "link");
    expect(hashFiles(["**"], { workspace: linked })).toBe(hashOf("F"));
    expect(hashFiles(["a/*"], { workspace: linked })).toBe(hashOf("F"));
    expect(hashFiles([`${workspace}/a/*`], { workspace: linked })).toBe("");
    expect(hashFiles([`${linked}/a/*`], { workspace })).toBe("");
  });
});

describe("hostile trees", () => {
  test("hold pipes, which are left out", () => {
    write({ f: "F" });
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    symlinkSync("pipe", join(workspace, "to-pipe"));
    expect(hash("**")).toBe(hashOf("F"));
    expect(hash("--follow-symbolic-links", "**")).toBe(hashOf("F"));
  });

  test("are given up when they take too long, with what to do", () => {
    write({ big: "" });
    truncateSync(join(workspace, "big"), 64 * 1024 * 1024 * 1024);
    const hashing = (): string => hashFiles(["**"], { workspace, timeoutMs: 20 });
    expect(hashing).toThrow(expect.objectContaining({ code: "EXPRESSION_FAILED", hint: expect.any(String) }));
    expect(hashing).toThrow(/more than 20 ms/);
  });

  test("of links that lead to each other are given up, too", () => {
    const names = Array.from({ length: 12 }, (_, index) => `d${index}`);
    for (const name of names) mkdirSync(join(workspace, name));
    for (const a of names) for (const b of names) symlinkSync(`../${b}`, join(workspace, a, `to-${b}`));
    expect(() => hashFiles(["--follow-symbolic-links", "**"], { workspace, timeoutMs: 50 })).toThrow(/more than 50 ms/);
  });

  test("may be deep", () => {
    const path = Array.from({ length: 900 }, () => "dd").join("/");
    write({ [`${path}/f`]: "F" });
    expect(hash("**/f")).toBe(hashOf("F"));
  });

  test("with files that cannot be read are an error", () => {
    write({ closed: "x" });
    chmodSync(join(workspace, "closed"), 0);
    for (const dir of [workspace, dirname(workspace)]) chmodSync(dir, 0o755);
    // Root may read what nobody may.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(() => hash("**")).toThrow(/closed/);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });
});

describe("calls that make no sense", () => {
  test("are refused with a reason", () => {
    expect(() => hash("--no-such-option", "**")).toThrow(/--no-such-option/);
    expect(() => hash("--no-such-option", "**")).toThrow(expect.objectContaining({ code: "EXPRESSION_FAILED" }));
  });

  test("do nothing when the job has ended already", () => {
    write({ f: "F" });
    const signal = AbortSignal.abort(new Error("over"));
    expect(() => hashFiles(["**"], { workspace, signal })).toThrow("over");
  });
});
