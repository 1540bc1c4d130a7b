import { execFileSync } from "node:child_process";
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readPipe } from "@steps/platform/runtime";
import { PipeReader } from "./pipe-reader.ts";

let dir: string;
let path: string;
let writer: number;
let reader: PipeReader;
let happened: string[];
let closed: Promise<void>;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "executor-pipe-"));
  path = join(dir, "pipe");
  execFileSync("mkfifo", [path]);
  reader = new PipeReader(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  writer = openSync(path, constants.O_WRONLY);
  happened = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function listen(): void {
  reader.on("data", (chunk: Uint8Array) => happened.push(Buffer.from(chunk).toString()));
  reader.on("end", () => happened.push("end"));
  closed = new Promise((resolve) => {
    reader.on("close", () => {
      happened.push("close");
      resolve();
    });
  });
}

describe("PipeReader", () => {
  test("settle() reads at once what a writer has left that is gone", () => {
    listen();
    writeSync(writer, "one");
    closeSync(writer);
    reader.settle();
    expect(happened).toEqual(["one", "end", "close"]);
  });

  test("settle() leaves a pipe to be followed that others hold", async () => {
    listen();
    writeSync(writer, "one");
    reader.settle();
    expect(happened).toEqual(["one"]);
    writeSync(writer, "two");
    closeSync(writer);
    await closed;
    expect(happened).toEqual(["one", "two", "end", "close"]);
  });

  test("loses nothing of a pipe that cannot be followed at once", async () => {
    const tries = { count: 0 };
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    reader = new PipeReader(fd, (given) => {
      if (++tries.count < 4) throw Object.assign(new Error("no descriptors are left"), { code: "EMFILE" });
      return readPipe(given);
    });
    listen();
    writeSync(writer, "one");
    while (tries.count < 2) await sleep(1);
    writeSync(writer, "two");
    while (tries.count < 4) await sleep(1);
    writeSync(writer, "three");
    closeSync(writer);
    await closed;
    expect(happened.join("")).toBe("onetwothreeendclose");
  });

  test("ends with a pipe that could never be followed", async () => {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const tries = { count: 0 };
    reader = new PipeReader(fd, () => {
      tries.count += 1;
      throw new Error("no descriptors are left");
    });
    listen();
    writeSync(writer, "one");
    while (tries.count < 2) await sleep(1);
    closeSync(writer);
    await closed;
    expect(happened).toEqual(["one", "end", "close"]);
    expect(() => fstatSync(fd)).toThrow("EBADF");
  });

  test("follows a writer that goes on, without being asked", async () => {
    listen();
    writeSync(writer, "one");
    while (happened.length === 0) await sleep(1);
    reader.settle();
    closeSync(writer);
    await closed;
    expect(happened).toEqual(["one", "end", "close"]);
  });

  test("loses nothing of what comes before somebody listens", async () => {
    writeSync(writer, "one");
    await sleep(20);
    listen();
    closeSync(writer);
    await closed;
    expect(happened).toEqual(["one", "end", "close"]);
  });

  test("gives nothing while it is paused", async () => {
    listen();
    reader.on("data", () => reader.pause());
    writeSync(writer, "x".repeat(64 * 1024));
    reader.settle();
    writeSync(writer, "two");
    closeSync(writer);
    await sleep(20);
    expect(happened.map((text) => text.length)).toEqual([64 * 1024]);
    reader.resume();
    while (happened.length < 2) await sleep(1);
    reader.resume();
    await closed;
    expect(happened.slice(1)).toEqual(["two", "end", "close"]);
  });

  test("destroy() closes the pipe, also before anything was read", async () => {
    listen();
    reader.destroy();
    await closed;
    expect(() => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)).toThrow("ENXIO");
    reader.settle();
    expect(happened).toEqual(["close"]);
    closeSync(writer);
  });
});
