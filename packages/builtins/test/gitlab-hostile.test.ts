import { type FileHandle, open } from "node:fs/promises";
import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildZip, snapshot, tempDir, type ZipEntryInput } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { extractArchive } from "../src/gitlab/files/extract-archive.ts";
import { writeFiles } from "./gitlab-world.ts";

async function archiveOf(entries: readonly ZipEntryInput[]): Promise<FileHandle> {
  const path = join(tempDir(), "a.zip");
  writeFileSync(path, buildZip(entries));
  const file = await open(path);
  onTestFinished(async () => await file.close());
  return file;
}

const entry = (name: string | Uint8Array, more: Partial<ZipEntryInput> = {}): ZipEntryInput => ({
  name,
  content: "x",
  ...more,
});
const link = (name: string, target: string): ZipEntryInput => entry(name, { content: target, mode: 0o120777 });

const HOSTILE: Readonly<Record<string, [problem: RegExp, entries: ZipEntryInput[]]>> = {
  traversal: [/"\.\.\/evil" has the part "\.\."/, [entry("../evil")]],
  "inner traversal": [/has the part "\.\."/, [entry("a/../../evil")]],
  absolute: [/"\/tmp\/evil" is absolute/, [entry("/tmp/evil")]],
  "empty name": [/empty part/, [entry("")]],
  "null character": [/null character/, [entry("a\u0000b")]],
  "not UTF-8": [/not UTF-8/, [entry(Buffer.from([0x61, 0xff]))]],
  "the repository of the project": [/is in the repository of the project/, [entry(".git/hooks/post-checkout")]],
  "the same, as NTFS has it": [/is in the repository of the project/, [entry("GIT~1/config")]],
  device: [/is a device, pipe or socket/, [entry("dev", { mode: 0o020666 })]],
  "the same name twice": [/is there twice/, [entry("a"), entry("a")]],
  "file below a file": [/is below the file "a"/, [entry("a"), entry("a/b")]],
  "file through a link": [/is below the link "l"/, [link("l", "sub"), entry("l/evil")]],
  "link out": [/"l" is a link that leads out of the archive/, [link("l", "../../etc")]],
  "link out by another link": [/leads out of the archive/, [link("a", "."), link("b", "a/../x")]],
  "absolute link": [/does not lead to a place in the archive/, [link("l", "/home/me/.ssh")]],
  "link to the system and back": [/does not lead to a place/, [link("l", "/usr/../home/me")]],
  "links in a circle": [/in a circle/, [link("a", "b"), link("b", "a")]],
  "link without end": [/too long/, [link("l", "a/".repeat(3000))]],
  encrypted: [/is encrypted/, [entry("a", { isMarkedEncrypted: true })]],
  "another local name": [/another name in its local header/, [entry("a", { localName: "b" })]],
  "shared data": [/shares bytes/, [entry("a"), entry("b", { sharesDataOf: 0 })]],
  "a bomb by its sizes": [
    /become \d+, more than the \d+ that such an archive may have/,
    Array.from({ length: 3 }, (_, index) => entry(`a${index}`, { declaredBytes: 0xfffffff0 })),
  ],
};

describe("extractArchive()", () => {
  test.each(Object.entries(HOSTILE))("refuses %s, and writes nothing", async (_, [problem, entries]) => {
    const root = tempDir();
    const archive = await archiveOf([entry("before"), ...entries]);
    await expect(extractArchive(archive, { root })).rejects.toThrow(problem);
    expect(snapshot(root)).toEqual({});
  });

  test.each([
    ["larger than declared", entry("a", { content: "x".repeat(99), declaredBytes: 9 })],
    ["smaller than declared", entry("a", { content: "x".repeat(9), declaredBytes: 99 })],
    ["with a wrong checksum", entry("a", { declaredCrc32: 1 })],
    ["broken", entry("a", { rawData: Buffer.from("no deflate"), declaredMethod: 8 })],
  ])("refuses a file that is %s", async (_, wrong) => {
    await expect(extractArchive(await archiveOf([wrong]), { root: tempDir() })).rejects.toThrow(/Cannot unpack/);
  });

  test("writes through no link of the project that leads out of it, but through those that stay", async () => {
    const outside = tempDir();
    const root = tempDir();
    writeFiles(root, { "real/kept": "1" });
    symlinkSync(outside, join(root, "out"));
    symlinkSync("real", join(root, "in"));
    await expect(extractArchive(await archiveOf([entry("out/x")]), { root })).rejects.toThrow("leads out of it");
    expect(snapshot(outside)).toEqual({});
    await extractArchive(await archiveOf([entry("in/x")]), { root });
    expect(snapshot(join(root, "real"))).toEqual({ kept: "1", x: "x" });
  });

  test("puts a file in the place of a link, and leaves alone what the link leads to", async () => {
    const root = tempDir();
    const target = join(tempDir(), "precious");
    writeFileSync(target, "old");
    symlinkSync(target, join(root, "a"));
    await extractArchive(await archiveOf([entry("a"), link("b", "a")]), { root });
    expect([snapshot(root), snapshot(join(target, ".."))]).toEqual([{ a: "x", b: "-> a" }, { precious: "old" }]);
  });

  test("removes no folder for a file, and no file for a folder", async () => {
    const root = tempDir();
    mkdirSync(join(root, "dir/sub"), { recursive: true });
    writeFileSync(join(root, "file"), "1");
    await expect(extractArchive(await archiveOf([entry("dir")]), { root })).rejects.toThrow("has a folder there");
    await expect(extractArchive(await archiveOf([entry("file/x")]), { root })).rejects.toThrow("has a file there");
  });

  test("writes into folders that were closed", async () => {
    const root = tempDir();
    mkdirSync(join(root, "closed"), { mode: 0o555 });
    await extractArchive(await archiveOf([entry("closed/x")]), { root });
    expect(snapshot(root)).toEqual({ "closed/x": "x" });
    expect(statSync(join(root, "closed")).mode & 0o777).toBe(0o755);
  });

  test("takes names that only other systems refuse", async () => {
    const root = tempDir();
    await extractArchive(await archiveOf([entry("aux.c"), entry("a\\b"), entry("x."), entry("sub/.git/config")]), {
      root,
    });
    expect(Object.keys(snapshot(root)).toSorted()).toEqual(["a\\b", "aux.c", "sub/.git/config", "x."]);
  });
});
