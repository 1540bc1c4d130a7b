import { chmodSync, existsSync, lchownSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { folderProblem, makePrivateFolder } from "./private-folder.ts";

const before = process.umask();
afterEach(() => void process.umask(before));

describe("makePrivateFolder()", () => {
  test.each([0o000, 0o022, 0o077, 0o777])("makes all that is missing for its owner alone under umask %o", (mask) => {
    const top = tempDir();
    process.umask(mask);
    expect(makePrivateFolder(join(top, "a/b/c"))).toBe(true);
    process.umask(before);
    for (const path of ["a", "a/b", "a/b/c"]) expect(statSync(join(top, path)).mode & 0o777).toBe(0o700);
    expect(makePrivateFolder(join(top, "a/b/c"))).toBe(false);
  });

  test.skipIf(!existsSync("/proc/self"))("ends where no folders can be made", () => {
    expect(() => makePrivateFolder("/proc/none/below")).toThrow("ENOENT");
  });

  test("does not make what a link leads to", () => {
    const top = tempDir();
    symlinkSync(join(top, "nowhere"), join(top, "link"));
    expect(() => makePrivateFolder(join(top, "link"))).toThrow("EEXIST");
    expect(existsSync(join(top, "nowhere"))).toBe(false);
  });
});

test("folderProblem() refuses what others may change", () => {
  const path = join(tempDir(), "own");
  mkdirSync(path, { mode: 0o700 });
  expect(folderProblem(path)).toBeUndefined();
  for (const mode of [0o777, 0o770, 0o702, 0o1777]) {
    chmodSync(path, mode);
    expect(folderProblem(path)).toContain("others may write to it");
  }
});

test.skipIf(process.getuid?.() !== 0)(
  "folderProblem() refuses a link of somebody else, though what it leads to is ours",
  () => {
    const top = tempDir();
    mkdirSync(join(top, "own"), { mode: 0o700 });
    symlinkSync(join(top, "own"), join(top, "link"));
    expect(folderProblem(join(top, "link"))).toBeUndefined();
    lchownSync(join(top, "link"), 12345, 12345);
    expect(folderProblem(join(top, "link"))).toBe("it is a link of user 12345");
  },
);
