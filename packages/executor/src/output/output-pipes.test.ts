import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type OutputPipes, OutputPipePool } from "./output-pipes.ts";
import type { OutputStream } from "./pipe-reader.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "executor-pipes-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Does the work of a process and its pump. */
async function use(pipes: OutputPipes, text: string): Promise<string> {
  const { stdout, stderr } = pipes.streams ?? {};
  if (!stdout || !stderr) throw new Error("no named pipes");
  let read = "";
  stdout.on("data", (chunk) => (read += String(chunk)));
  stderr.on("data", () => {});
  writeSync(pipes.stdio[1] as number, text);
  pipes.closeWriters();
  await Promise.all([closed(stdout), closed(stderr)]);
  await new Promise((resolve) => setImmediate(resolve));
  return read;
}

function closed(stream: OutputStream): Promise<void> {
  return new Promise((resolve) => void stream.on("close", resolve));
}

test("pipes that nobody holds serve the next process", async () => {
  const pool = new OutputPipePool(dir);
  const first = await pool.open();
  expect(await use(first, "one")).toBe("one");
  first.release(true);
  const second = await pool.open();
  expect(second.paths).toEqual(first.paths);
  expect(await use(second, "two")).toBe("two");
  second.release(true);
  await pool.close();
  expect(readdirSync(dir)).toEqual([]);
});

test("pipes that somebody could still read from are not used again", async () => {
  const pool = new OutputPipePool(dir);
  const first = await pool.open();
  const [path = ""] = first.paths;
  const spy = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await use(first, "one");
    first.release(true);
    const second = await pool.open();
    expect(second.paths.has(path)).toBe(false);
    expect(await use(second, "secret")).toBe("secret");
    expect(readSync(spy, Buffer.alloc(10))).toBe(0);
    second.release(true);
  } finally {
    closeSync(spy);
    await pool.close();
  }
});

// A number that was given up may be another file's by now.
function kindOf(fd: number): "pipe" | "directory" | "other" {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() ? "pipe" : stat.isDirectory() ? "directory" : "other";
  } catch {
    return "other";
  }
}

test("pipes without a name serve one process, and what nobody got is closed", async () => {
  const made: { readonly reader: number; readonly writer: number }[] = [];
  const makePipe = (): { readonly reader: number; readonly writer: number } => {
    const path = join(dir, "pipe");
    execFileSync("mkfifo", [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const pipe = { reader, writer: openSync(path, constants.O_WRONLY) };
    rmSync(path);
    made.push(pipe);
    return pipe;
  };
  const pool = new OutputPipePool(dir, { makePipe });
  pool.prepare();
  const first = await pool.open();
  expect(first.paths).toEqual(new Set(made.map(({ reader }) => `pipe:[${fstatSync(reader).ino}]`)));
  expect(await use(first, "one")).toBe("one");
  first.release(true);
  expect(await use(await pool.open(), "two")).toBe("two");
  expect(made).toHaveLength(4);
  pool.prepare();
  const ends = made.slice(4).flatMap(({ reader, writer }) => [reader, writer]);
  expect(ends.map(kindOf)).toEqual(["pipe", "pipe", "pipe", "pipe"]);
  await pool.close();
  expect(ends.map(kindOf)).not.toContain("pipe");
  expect(readdirSync(dir)).toEqual([]);
});

test("where the second pipe of a process cannot be made, the first is closed and named ones serve", async () => {
  const first = openSync(dir, constants.O_RDONLY);
  const second = openSync(dir, constants.O_RDONLY);
  const made = [{ reader: first, writer: second }];
  const pool = new OutputPipePool(dir, { makePipe: () => made.pop() });
  const pipes = await pool.open();
  expect([first, second].map(kindOf)).not.toContain("directory");
  expect([...pipes.paths].every((path) => path.startsWith(dir))).toBe(true);
  expect(await use(pipes, "one")).toBe("one");
  pipes.release(true);
  await pool.close();
});

test("a directory that takes no pipes is no failure, also while nobody waits for them", async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", note);
  writeFileSync(join(dir, "file"), "");
  const pool = new OutputPipePool(join(dir, "file"));
  pool.prepare();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await pool.open()).stdio).toEqual(["ignore", "pipe", "pipe"]);
  await pool.close();
  process.off("unhandledRejection", note);
  expect(rejections).toEqual([]);
});
