import { execFileSync } from "node:child_process";
import type * as FileSystem from "node:fs";
import { fdatasync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPipelineJournal } from "@steps/trace/pipeline";
import { expect, onTestFinished, test, vi } from "vitest";
import { JournalFile } from "./journal-file.ts";

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof FileSystem>();
  return { ...fs, fdatasync: vi.fn(fs.fdatasync) };
});

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "steps-journal-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test("append() writes events that come at one moment as it writes them one by one", async () => {
  const [one, many] = [join(tempDir(), "one"), join(tempDir(), "many")];
  const events = ["a", "b", "c"].map((path, at) => ({ type: "file-read", at, path, sha256: "" }) as const);
  await using first = new JournalFile(one, "none", createPipelineJournal);
  for (const event of events) expect(first.append([event])).toBe(1);
  await using second = new JournalFile(many, "all", createPipelineJournal);
  expect(second.append(events)).toBe(3);
  expect(readFileSync(many, "utf8")).toBe(readFileSync(one, "utf8"));
  expect([second.root, second.writtenRoot, second.count]).toEqual([first.root, first.root, 3]);
});

test("append() tells how many events were written whole when there is no more room", () => {
  const path = join(tempDir(), "journal");
  const url = new URL("journal-file.ts", import.meta.url).href;
  // Lines of 200 bytes in a file of at most 512: two and a half.
  const text = `import { JournalFile } from ${JSON.stringify(url)};
    let count = 0;
    const lines = { encode: () => "x".repeat(198) + ++count + "\\n", get root() { return "root " + count; }, get count() { return count; } };
    const journal = new JournalFile(${JSON.stringify(path)}, "none", () => lines);
    const event = { type: "a" };
    const counts = [journal.append([event]), journal.append([event, event, event]), journal.append([event])];
    console.log(JSON.stringify([counts, journal.writtenRoot, journal.root, journal.failure.code]));`;
  const args = [
    "--conditions=steps-source",
    "--disable-warning=ExperimentalWarning",
    "--input-type=module",
    "-e",
    text,
  ];
  const script = `trap "" XFSZ; ulimit -f 1; exec "$@"`;
  const printed = execFileSync("sh", ["-c", script, "sh", process.execPath, ...args], { encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual([[1, 1, 0], "root 2", "root 5", "STATE_UNUSABLE"]);
  expect(readFileSync(path)).toHaveLength(512);
});

test("a journal is closed where the system starts no thread that would wait for the disk", async () => {
  const asked = Promise.withResolvers<void>();
  vi.mocked(fdatasync).mockImplementationOnce(() => asked.resolve());
  const path = join(tempDir(), "journal");
  const journal = new JournalFile(path, "background", createPipelineJournal);
  journal.append([{ type: "file-read", at: 1, path: "a", sha256: "" }]);
  // The journal's own timer keeps no process alive.
  const waiting = setInterval(() => {}, 1000);
  await asked.promise;
  await journal[Symbol.asyncDispose]();
  clearInterval(waiting);
  expect(readFileSync(path, "utf8")).toContain('"path":"a"');
});
