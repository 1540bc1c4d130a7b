import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { gitBlobDigest, gitTreeDigest, type TreeEntry } from "../src/tree/git-digest.ts";

type Algorithm = "sha1" | "sha256";
type Tree = {
  readonly [name: string]: string | Uint8Array | Tree | { readonly exec: string } | { readonly link: string };
};

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function git(dir: string, ...args: string[]): string {
  const env = {
    PATH: process.env["PATH"],
    HOME: dir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    LC_ALL: "C",
  };
  return execFileSync("git", args, { cwd: dir, env, encoding: "utf8" }).trim();
}

function writeTree(dir: string, tree: Tree): void {
  for (const [name, entry] of Object.entries(tree)) {
    const path = join(dir, name);
    if (typeof entry === "string" || entry instanceof Uint8Array) writeFileSync(path, entry);
    else if (isOf(entry, "exec")) {
      writeFileSync(path, entry.exec);
      chmodSync(path, 0o755);
    } else if (isOf(entry, "link")) symlinkSync(entry.link, path);
    else {
      mkdirSync(path);
      writeTree(path, entry);
    }
  }
}

function isOf<Key extends string>(entry: object, key: Key): entry is Record<Key, string> {
  return Object.keys(entry).length === 1 && typeof (entry as Record<string, unknown>)[key] === "string";
}

/** Computes the digest of a folder on the disk with our own functions. */
function digestOfFolder(dir: string, algorithm: Algorithm): string {
  const entries = readdirSync(dir, { withFileTypes: true })
    .filter(({ name }) => name !== ".git")
    .map((entry): TreeEntry => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return { name: entry.name, mode: "40000", digest: digestOfFolder(path, algorithm) };
      if (entry.isSymbolicLink())
        return { name: entry.name, mode: "120000", digest: gitBlobDigest(readlinkSync(path, "buffer"), algorithm) };
      const mode = (statSync(path).mode & 0o100) === 0 ? "100644" : "100755";
      return { name: entry.name, mode, digest: gitBlobDigest(readFileSync(path), algorithm) };
    });
  return gitTreeDigest(entries, algorithm);
}

function expectSameAsGit(tree: Tree, algorithm: Algorithm): void {
  const dir = mkdtempSync(join(tmpdir(), "steps-digest-"));
  folders.push(dir);
  git(dir, "init", "-q", `--object-format=${algorithm}`);
  writeTree(dir, tree);
  git(dir, "add", "--all", "--force");
  expect(digestOfFolder(dir, algorithm)).toBe(git(dir, "write-tree"));
}

describe.each<Algorithm>(["sha1", "sha256"])("git's ids in %s", (algorithm) => {
  test("are ours for a folder that sorts as if its name ended in a slash", () => {
    expectSameAsGit(
      { a: { x: "1" }, "a.b": "2", "a-b": "3", a0: "4", "a b": "5", A: "6", "a.b.c": { y: "7" } },
      algorithm,
    );
    expectSameAsGit({ a: "1", "a.b": { x: "2" }, a0: { x: "3" }, "a-": { x: "4" }, ab: { x: "5" } }, algorithm);
  });

  test("are ours for names beyond ASCII, sorted by bytes", () => {
    // U+FFFD sorts before U+1F600 by bytes and after it by UTF-16 units.
    expectSameAsGit({ é: "1", "\u{1F600}": "2", "\uFFFD": "3", z: "4", "\u{1F600}.d": { x: "5" } }, algorithm);
  });

  test("are ours for programs, links and nested folders", () => {
    expectSameAsGit(
      {
        "run.sh": { exec: "#!/bin/sh\necho hi\n" },
        link: { link: "run.sh" },
        dangling: { link: "../nowhere/é" },
        deep: { er: { and: { deeper: "x" }, "and.": "y" } },
        linked: { link: "deep" },
      },
      algorithm,
    );
  });

  test("are ours for empty, binary and large files", () => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    expectSameAsGit({ empty: "", all, crlf: "a\r\nb", large: new Uint8Array(300_000).fill(0x2a) }, algorithm);
  });

  test("are ours for an empty tree", () => {
    expectSameAsGit({}, algorithm);
  });
});
