import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LogStream } from "./index-record.ts";
import { encodeRecord, RECORD_BYTES } from "./index-record.ts";
import { EMPTY_LOG, FILES_FILE, INDEX_FILE, JobLog } from "./job-log.ts";
import { readOutput } from "./read-output.ts";
import { StampedLog } from "./read-stamped.ts";
import { repairLog } from "./repair-log.ts";

interface Write {
  readonly stream: LogStream;
  readonly file: number;
  readonly bytes: Buffer;
}

const never = new AbortController().signal;
const START_US = 1_790_000_000_000_000;

const content = fc.oneof(
  { weight: 6, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 20 }) },
  { weight: 3, arbitrary: fc.constantFrom("\n", "line\n", "50%\r", "\n\n\n").map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 150_000 }).map((length) => Buffer.alloc(length, "0123456789\n")) },
);
const writes: fc.Arbitrary<Write[]> = fc.array(
  fc
    .tuple(fc.constantFrom<LogStream>("stdout", "stdout", "stderr", "runner"), fc.nat(2), content)
    .map(([stream, file, bytes]) => ({ stream, file, bytes: Buffer.from(bytes) })),
  { maxLength: 40 },
);

/** A log that takes writes as the engine does: bytes first, then our record. */
class Feeder {
  readonly log: JobLog;
  readonly #folder: string;
  readonly #sizes = new Map<number, number>();
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.log = new JobLog(folder, EMPTY_LOG, { isEnded: false });
  }

  write({ stream, file, bytes }: Write): void {
    const path = `part-${file}.log`;
    const offset = this.#sizes.get(file) ?? 0;
    appendFileSync(join(this.#folder, path), bytes);
    this.#sizes.set(file, offset + bytes.length);
    this.log.append({ timeUs: START_US + this.#count++, path, offset, bytes: bytes.length, stream });
  }
}

function expectedOf(all: readonly Write[]): { readonly stdout: Buffer; readonly stderr: Buffer } {
  const of = (isOut: boolean) => all.filter(({ stream }) => (stream === "stdout") === isOut).map(({ bytes }) => bytes);
  return { stdout: Buffer.concat(of(true)), stderr: Buffer.concat(of(false)) };
}

async function outputOf(log: JobLog, from = { stdout: 0, stderr: 0 }): Promise<{ stdout: Buffer; stderr: Buffer }> {
  const parts: { stdout: Uint8Array[]; stderr: Uint8Array[] } = { stdout: [], stderr: [] };
  const at = { ...from };
  for await (const { stream, bytes, offset } of readOutput(log, from, never)) {
    expect(offset).toBe(at[stream]);
    expect(bytes.length).toBeGreaterThan(0);
    expect(bytes.length).toBeLessThanOrEqual(65_536);
    at[stream] += bytes.length;
    parts[stream].push(bytes);
  }
  return { stdout: Buffer.concat(parts.stdout), stderr: Buffer.concat(parts.stderr) };
}

async function stampedOf(stamped: StampedLog, offset = 0): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const bytes of stamped.read(offset, never)) parts.push(bytes);
  return Buffer.concat(parts);
}

const root = tempDir();

async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(root, "log-"));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const share = fc.double({ min: 0, max: 1, noNaN: true });

describe("JobLog", () => {
  test("gives each stream byte for byte from any offset, to readers who came early and to those who came late", async () => {
    await fc.assert(
      fc.asyncProperty(writes, share, share, (all, outShare, errShare) =>
        inFolder(async (folder) => {
          const feeder = new Feeder(folder);
          const { stdout, stderr } = expectedOf(all);
          const from = { stdout: Math.floor(outShare * stdout.length), stderr: Math.floor(errShare * stderr.length) };
          const early = outputOf(feeder.log, from);
          const earlyStamped = stampedOf(new StampedLog(feeder.log));
          for (const [index, write] of all.entries()) {
            feeder.write(write);
            if (index % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
          }
          feeder.log.end();
          const expected = { stdout: stdout.subarray(from.stdout), stderr: stderr.subarray(from.stderr) };
          expect(await early).toEqual(expected);
          expect(await outputOf(feeder.log, from)).toEqual(expected);
          expect(feeder.log.news.size).toBe(0);

          const { size } = feeder.log;
          expect([size.stdoutBytes, size.stderrBytes]).toEqual([stdout.length, stderr.length]);
          const reopened = new JobLog(folder, size, { isEnded: true });
          expect(await outputOf(reopened, from)).toEqual(expected);
          const stamped = await stampedOf(new StampedLog(reopened));
          expect(stamped.equals(await earlyStamped)).toBe(true);
          const offset = Math.floor(outShare * (stamped.length + 2));
          expect((await stampedOf(new StampedLog(reopened), offset)).equals(stamped.subarray(offset))).toBe(true);
        }),
      ),
      { numRuns: 60 },
    );
  });

  test("finds its way into a long log by checkpoints, learned while it was written or while it was read", async () => {
    await inFolder(async (folder) => {
      const feeder = new Feeder(folder);
      const { log } = feeder;
      const count = 3 * 4096 + 17;
      const bytes = Buffer.from("0123456789abcde\n");
      writeFileSync(join(folder, "big.log"), Buffer.alloc(count * 16, bytes));
      for (let n = 0; n < count; n++) {
        const stream = n % 3 === 0 ? "stderr" : "stdout";
        log.append({ timeUs: START_US + n, path: "big.log", offset: n * 16, bytes: 16, stream });
      }
      log.end();
      expect(log.checkpointBefore(log.size.stdoutBytes, log.size.stderrBytes).records).toBe(3 * 4096);
      expect(log.checkpointBefore(log.size.stdoutBytes, 0).records).toBe(0);
      const reopened = new JobLog(folder, log.size, { isEnded: true });
      const all = await outputOf(reopened);
      expect(reopened.checkpointBefore(log.size.stdoutBytes, log.size.stderrBytes).records).toBe(3 * 4096);
      for (const stdout of [1, 65_535, 100_003, log.size.stdoutBytes]) {
        const stderr = Math.floor(stdout / 2);
        const part = await outputOf(reopened, { stdout, stderr });
        expect(part).toEqual({ stdout: all.stdout.subarray(stdout), stderr: all.stderr.subarray(stderr) });
      }
    });
  });

  test("says of an offset behind the end of a log that ended that it is none, and waits at one that goes on", async () => {
    await inFolder(async (folder) => {
      const feeder = new Feeder(folder);
      const late = outputOf(feeder.log, { stdout: 3, stderr: 0 });
      feeder.write({ stream: "stdout", file: 0, bytes: Buffer.from("abcdef") });
      feeder.log.end();
      expect((await late).stdout.toString()).toBe("def");
      await expect(outputOf(feeder.log, { stdout: 0, stderr: 1 })).rejects.toMatchObject({
        code: "OFFSET_OUT_OF_RANGE",
      });
      expect(await stampedOf(new StampedLog(feeder.log), 10_000)).toHaveLength(0);
    });
  });

  test("lets go of everything when a reader is aborted, whether it waits or holds a piece", async () => {
    await inFolder(async (folder) => {
      const feeder = new Feeder(folder);
      feeder.write({ stream: "stdout", file: 0, bytes: Buffer.from("abc") });
      const stop = new AbortController();
      const readers = [
        readOutput(feeder.log, { stdout: 0, stderr: 0 }, stop.signal),
        new StampedLog(feeder.log).read(0, stop.signal),
      ];
      expect(await readers[0]?.next()).toMatchObject({ done: false });
      const waiting = readers.map((reader) => reader.next());
      await new Promise((resolve) => setImmediate(resolve));
      expect(feeder.log.news.size).toBe(2);
      stop.abort();
      for (const result of await Promise.all(waiting)) expect(result.done).toBe(true);
      expect(feeder.log.news.size).toBe(0);
      feeder.log.end();
    });
  });

  test("tells readers that are not at the end when the files are removed, and damage from an end", async () => {
    await inFolder(async (folder) => {
      const feeder = new Feeder(folder);
      for (let n = 0; n < 3; n++) feeder.write({ stream: "stdout", file: 0, bytes: Buffer.alloc(65_536, "x") });
      feeder.log.end();
      const reader = readOutput(feeder.log, { stdout: 0, stderr: 0 }, never);
      await reader.next();
      feeder.log.markRemoved();
      await expect(reader.next()).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
      const reopened = new JobLog(folder, feeder.log.size, { isEnded: true });
      truncateSync(join(folder, "part-0.log"), 70_000);
      await expect(outputOf(reopened)).rejects.toMatchObject({ code: "LOG_DAMAGED" });
    });
  });
});

describe("repairLog()", () => {
  const traceId = "0".repeat(32);

  /** A run whose step wrote these, by the engine's own index; our index and list are as they were cut off. */
  function prepare(folder: string, all: readonly Write[]): { readonly run: Parameters<typeof repairLog>[1] } {
    const path = join(folder, "engine", "runs", `20260101T000000000Z-${traceId}`);
    const logs = join(path, "logs");
    mkdirSync(logs, { recursive: true });
    const log = new JobLog(folder, EMPTY_LOG, { isEnded: false });
    let offset = 0;
    for (const [index, { stream, bytes }] of all.entries()) {
      const record = Buffer.alloc(24);
      record.writeBigUInt64LE(BigInt(index), 0);
      record.writeBigUInt64LE(BigInt(offset), 8);
      record.writeUInt32LE(bytes.length, 16);
      record.writeUInt32LE(stream === "stdout" ? 0 : 1, 20);
      appendFileSync(join(logs, "0.log"), bytes);
      appendFileSync(join(logs, "0.idx"), record);
      const file = join("engine", "runs", `20260101T000000000Z-${traceId}`, "logs", "0.log");
      log.append({ timeUs: START_US + index, path: file, offset, bytes: bytes.length, stream });
      offset += bytes.length;
    }
    log.end();
    return { run: { traceId, path, logs, journal: join(path, "trace.jsonl"), tmp: join(path, "tmp") } };
  }

  const steps: Write[] = [
    { stream: "stdout", file: 0, bytes: Buffer.from("one\n") },
    { stream: "stderr", file: 0, bytes: Buffer.from("two\n\0") },
    { stream: "stdout", file: 0, bytes: Buffer.from("three") },
  ];

  test("restores all that the engine stored, wherever the index was cut off", async () => {
    for (let length = 0; length <= steps.length * RECORD_BYTES; length++) {
      await inFolder(async (folder) => {
        const { run } = prepare(folder, steps);
        truncateSync(join(folder, INDEX_FILE), length);
        const log = repairLog(folder, run);
        log.end();
        expect(await outputOf(log)).toEqual(expectedOf(steps));
        expect(readFileSync(join(folder, INDEX_FILE))).toHaveLength(log.size.records * RECORD_BYTES);
      });
    }
  });

  test("restores all, wherever the list of files was cut off", async () => {
    await inFolder(async (folder) => {
      const { run } = prepare(folder, steps);
      const list = readFileSync(join(folder, FILES_FILE));
      const index = readFileSync(join(folder, INDEX_FILE));
      for (let length = 0; length <= list.length; length++) {
        writeFileSync(join(folder, FILES_FILE), list.subarray(0, length));
        writeFileSync(join(folder, INDEX_FILE), index);
        const log = repairLog(folder, run);
        log.end();
        expect(await outputOf(log)).toEqual(expectedOf(steps));
      }
    });
  });

  test("keeps what is before a byte that changed, and restores what follows from the engine's index", async () => {
    for (let at = 0; at < steps.length * RECORD_BYTES; at++) {
      await inFolder(async (folder) => {
        const { run } = prepare(folder, steps);
        const index = readFileSync(join(folder, INDEX_FILE));
        index[at] = (index[at] as number) ^ 0x41;
        writeFileSync(join(folder, INDEX_FILE), index);
        const log = repairLog(folder, run);
        log.end();
        expect(await outputOf(log)).toEqual(expectedOf(steps));
      });
    }
  });

  test("believes neither an index nor a list that a step wrote", async () => {
    await inFolder(async (folder) => {
      const { run } = prepare(folder, steps);
      const record = { timeUs: 1, file: 1, offset: 0, bytes: 1 << 30, stream: "stdout" } as const;
      appendFileSync(
        join(folder, INDEX_FILE),
        Buffer.concat([encodeRecord(record), encodeRecord({ ...record, file: 0 })]),
      );
      appendFileSync(join(run?.logs ?? "", "0.idx"), Buffer.alloc(48, 255));
      const log = repairLog(folder, run);
      log.end();
      expect(await outputOf(log)).toEqual(expectedOf(steps));
      appendFileSync(join(folder, FILES_FILE), '"../../../../etc/passwd"\n');
      expect(() => repairLog(folder, run)).toThrow("no path");
    });
  });
});
