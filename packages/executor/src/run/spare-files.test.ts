import {
  chmodSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SpareFiles } from "./spare-files.ts";
import { StepFiles } from "./step-files.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "executor-files-"));
});

afterEach(() => rmSync(dir, { recursive: true }));

test("a step gets the files of one that has written nothing, and goes on to have its own", () => {
  const spare = new SpareFiles(dir);
  const first = new StepFiles(dir, spare);
  const paths = [first.outputFile(), first.exportFile()];
  const beside = new StepFiles(dir, spare);
  expect(paths).not.toContain(beside.outputFile());
  first.remove();
  const second = new StepFiles(dir, spare);
  expect([second.outputFile(), second.exportFile()]).toEqual(paths);
  for (const files of [second, beside]) files.remove();
  spare.remove();
  expect(readdirSync(dir)).toEqual([]);
});

const touches: Readonly<Record<string, (path: string) => void>> = {
  written: (path) => writeFileSync(path, "a=1\n"),
  "written and emptied": (path) => {
    writeFileSync(path, "a=1\n");
    truncateSync(path);
  },
  "opened to others": (path) => chmodSync(path, 0o666),
  "linked elsewhere": (path) => linkSync(path, join(dir, "link")),
  removed: (path) => rmSync(path),
  "replaced by another": (path) => {
    writeFileSync(join(dir, "other"), "");
    renameSync(join(dir, "other"), path);
  },
  "replaced by a link": (path) => {
    rmSync(path);
    symlinkSync("/dev/null", path);
  },
};

test.each(Object.entries(touches))("no step gets a file that was %s", async (_what, touch) => {
  const spare = new SpareFiles(dir);
  const first = new StepFiles(dir, spare);
  const path = first.outputFile();
  // Longer than the clock of a file system takes for its next time.
  await new Promise((resolve) => setTimeout(resolve, 20));
  touch(path);
  first.remove();
  expect(new StepFiles(dir, spare).outputFile()).not.toBe(path);
  expect(readdirSync(dir)).not.toContain(basename(path));
});

test.each(["opened to others", "linked elsewhere", "written"])(
  "no step gets a file that was %s before the clock of the file system went on",
  (what) => {
    const spare = new SpareFiles(dir);
    const file = spare.take("output");
    touches[what]?.(file.path);
    const { ctimeNs } = statSync(file.path, { bigint: true });
    spare.giveBack({ ...file, ctimeNs });
    expect(spare.take("output").path).not.toBe(file.path);
  },
);
