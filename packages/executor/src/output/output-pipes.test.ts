import {
  closeSync,
  constants,
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
import { finished } from "node:stream/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type OutputPipes, OutputPipePool } from "./output-pipes.ts";

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
  stderr.resume();
  writeSync(pipes.stdio[1] as number, text);
  pipes.closeWriters();
  await Promise.all([finished(stdout, { writable: false }), finished(stderr, { writable: false })]);
  await new Promise((resolve) => setImmediate(resolve));
  return read;
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
