import { existsSync, realpathSync, truncateSync, writeFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { findLibraries, mappedPrograms, readElf } from "@steps/containers/own-program";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { LAUNCHER_CODES, launcherElf } from "./launcher-elf.ts";

const MUSL = "/lib/ld-musl-x86_64.so.1";
const node = realpathSync(process.execPath);

test.skipIf(process.platform !== "linux")("the libraries of this Node are those it runs with", () => {
  const { loader, libraries } = findLibraries(node);
  const names = libraries.map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect(new Set(names).size).toBe(names.length);
  for (const path of [loader, ...libraries.map((library) => library.path)]) expect(existsSync(path)).toBe(true);
  expect(libraries.map(({ path }) => path)).not.toContain(node);
  expect(names).toContain("libstdc++.so.6");
});

describe("readElf()", () => {
  test("finds the loader of a program", () => {
    expect(readElf(node)?.interpreter).toMatch(/^\/lib.*ld-/);
  });

  test.skipIf(!existsSync(MUSL))("finds nothing where there is nothing", () => {
    expect(readElf(MUSL)?.interpreter).toBeUndefined();
  });

  test("takes a static program for what it is", () => {
    const path = join(tempDir(), "static");
    writeFileSync(
      path,
      launcherElf(LAUNCHER_CODES["x64"] as NonNullable<(typeof LAUNCHER_CODES)[string]>, { program: "p", args: [] }),
    );
    expect(readElf(path)).toEqual({ interpreter: undefined, soname: undefined });
    expect(() => findLibraries(path)).toThrow("does not name its loader");
  });

  test("does not take other files", () => {
    const path = join(tempDir(), "file");
    for (const text of ["", "#!/bin/sh\n", "\x7fELF", "x".repeat(100)]) {
      writeFileSync(path, text);
      expect(readElf(path)).toBeUndefined();
    }
  });

  test("reads damaged files without end or failure", () => {
    const dir = tempDir();
    const path = join(dir, "library");
    const whole = findLibraries(node).libraries.find(({ name }) => name === "libc.so.6" || name.startsWith("libgcc"));
    const head = Buffer.alloc(4096);
    copyFileSync((whole as { path: string }).path, path);
    truncateSync(path, 4096);
    expect(() => readElf(path)).not.toThrow();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 200, maxLength: 600 }), (bytes) => {
        head.fill(0).set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
        head.set(bytes, 16);
        writeFileSync(path, head);
        readElf(path);
      }),
      { numRuns: 200 },
    );
  });
});

describe("mappedPrograms()", () => {
  test("takes what is executed, once", () => {
    const maps = [
      "00400000-00401000 r--p 00000000 fd:01 12 /usr/bin/node",
      "00401000-00402000 r-xp 00001000 fd:01 12 /usr/bin/node",
      "7f0000000000-7f0000001000 r-xp 00000000 fd:01 13   /lib/with a blank.so",
      "7f0000002000-7f0000003000 r-xs 00000000 fd:01 13   /lib/with a blank.so",
      "7f0000004000-7f0000005000 rwxp 00000000 00:00 0 ",
      "7f0000006000-7f0000007000 r-xp 00000000 00:00 0                          [vdso]",
      "7f0000008000-7f0000009000 r--p 00000000 fd:01 14   /usr/lib/locale/archive",
    ].join("\n");
    expect(mappedPrograms(maps)).toEqual(["/usr/bin/node", "/lib/with a blank.so"]);
  });

  test("says that a library was removed", () => {
    const maps = "00401000-00402000 r-xp 00001000 fd:01 12 /lib/libc.so.6 (deleted)\n";
    expect(() => mappedPrograms(maps)).toThrow('Cannot copy "/lib/libc.so.6"');
  });
});
