import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { OutputWriter } from "./output-writer.ts";

/** A named pipe with a reading end that only reads when it is told to, and a blocking writing end. */
function createPipe(): { readonly writer: number; readonly read: () => Buffer; readonly closeReader: () => void } {
  const path = join(tempDir(), "pipe");
  execFileSync("mkfifo", [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  let isOpen = true;
  const closeReader = (): void => {
    if (isOpen) closeSync(reader);
    isOpen = false;
  };
  onTestFinished(() => {
    closeReader();
    closeSync(writer);
  });
  const read = (): Buffer => {
    const buffer = Buffer.alloc(1_048_576);
    try {
      return buffer.subarray(0, readSync(reader, buffer));
    } catch {
      // Nothing there now.
      return Buffer.alloc(0);
    }
  };
  return { writer, read, closeReader };
}

function watch(promise: unknown): { isDone: boolean } {
  const watched = { isDone: false };
  void Promise.resolve(promise).then(() => (watched.isDone = true));
  return watched;
}

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

describe("OutputWriter", () => {
  test("keeps order when the pipe is full, and says that the reader is behind", async () => {
    const pipe = createPipe();
    const writer = new OutputWriter(pipe.writer);
    const chunks = Array.from({ length: 40 }, (_, index) => Buffer.alloc(10_000 + index, 65 + (index % 26)));
    const pending = chunks.map((chunk) => writer.write(chunk));
    expect(pending[0]).toBeUndefined();
    expect(pending.at(-1)).toBeInstanceOf(Promise);
    const all = watch(Promise.all(pending));
    const got: Buffer[] = [];
    while (!all.isDone) {
      got.push(Buffer.from(pipe.read()));
      await tick();
    }
    got.push(pipe.read());
    expect(Buffer.concat(got).equals(Buffer.concat(chunks))).toBe(true);
    expect(writer.write(Buffer.from("x"))).toBeUndefined();
  });

  test("takes a copy of what it cannot write yet", async () => {
    const pipe = createPipe();
    const writer = new OutputWriter(pipe.writer);
    const chunk = Buffer.alloc(200_000, "a");
    const first = writer.write(chunk);
    chunk.fill("b");
    const got: Buffer[] = [];
    while (Buffer.concat(got).length < 200_000) {
      got.push(Buffer.from(pipe.read()));
      await tick();
    }
    await first;
    expect(Buffer.concat(got).includes("b")).toBe(false);
  });

  test("drops everything when the reader has gone, before and while it waits", async () => {
    const gone = createPipe();
    gone.closeReader();
    const early = new OutputWriter(gone.writer);
    await early.write(Buffer.from("x"));
    expect(early.write(Buffer.from("y"))).toBeUndefined();
    const pipe = createPipe();
    const writer = new OutputWriter(pipe.writer);
    const pending = writer.write(Buffer.alloc(500_000));
    pipe.closeReader();
    await pending;
    expect(writer.write(Buffer.from("y"))).toBeUndefined();
  });

  test("gives a reader that takes nothing up when it is hurried, and no other", async () => {
    const pipe = createPipe();
    const writer = new OutputWriter(pipe.writer);
    const pending = writer.write(Buffer.alloc(500_000));
    writer.hurry();
    await pending;
    expect(writer.write(Buffer.from("y"))).toBeUndefined();
    const slow = createPipe();
    const hurried = new OutputWriter(slow.writer);
    hurried.hurry();
    const all = watch(hurried.write(Buffer.alloc(500_000)));
    let bytes = 0;
    while (!all.isDone) {
      bytes += slow.read().length;
      await tick();
    }
    bytes += slow.read().length;
    expect(bytes).toBe(500_000);
  });

  test("does not make the descriptor that it was given non-blocking", async () => {
    const pipe = createPipe();
    await new OutputWriter(pipe.writer).write(Buffer.from("x"));
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${pipe.writer}`, "utf8"))?.[1];
    expect(Number.parseInt(flags ?? "", 8) & constants.O_NONBLOCK).toBe(0);
  });

  test("writes to a file where it stands", async () => {
    const path = join(tempDir(), "file");
    writeFileSync(path, "before ");
    const fd = openSync(path, "a");
    const writer = new OutputWriter(fd);
    await writer.write(Buffer.from("after"));
    closeSync(fd);
    expect(readFileSync(path, "utf8")).toBe("before after");
  });

  test("throws what is no fault of a reader", () => {
    const fd = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(fd));
    expect(() => new OutputWriter(fd).write(Buffer.from("x"))).toThrow("ENOSPC");
  });
});
