import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { array, assert, constantFrom, property, tuple, uint8Array } from "fast-check";
import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { TraceFile, type TraceStream } from "./trace-file.ts";

const MAX = 1024 * 1024;

test("a trace that is opened again has its bytes, its CRC and the offsets of both streams", () => {
  const dir = tempDir();
  {
    using trace = new TraceFile(dir, MAX);
    trace.append("runner", Buffer.from("begin\n"));
    trace.append("stdout", Buffer.from("one"));
    trace.append("stderr", Buffer.from("three"));
  }
  using again = new TraceFile(dir, MAX);
  expect(again.read(0).toString()).toBe("begin\nonethree");
  expect(again.crc).toBe(crc32("begin\nonethree"));
  expect(again.offsets).toEqual({ stdout: 3, stderr: 5 });
  expect(again.hasRunnerLines).toBe(true);
});

test("bytes that were written without their record are taken again", () => {
  const dir = tempDir();
  {
    using trace = new TraceFile(dir, MAX);
    trace.append("stdout", Buffer.from("kept"));
  }
  appendFileSync(join(dir, "trace"), "torn");
  appendFileSync(join(dir, "trace.index"), Buffer.from([0, 0]));
  using again = new TraceFile(dir, MAX);
  expect([again.size, again.offsets.stdout]).toEqual([4, 4]);
  again.append("stdout", Buffer.from(" on"));
  expect(readFileSync(join(dir, "trace"), "utf8")).toBe("kept on");
});

test("beyond its limit a trace says so once, and goes on counting what it takes", () => {
  const dir = tempDir();
  {
    using trace = new TraceFile(dir, 10);
    trace.append("stdout", Buffer.from("123456789abc"));
    trace.append("stdout", Buffer.from("def"));
  }
  using again = new TraceFile(dir, 10);
  again.append("stderr", Buffer.from("x"));
  again.append("runner", Buffer.from("end\n"));
  const text = again.read(0).toString();
  expect(text.startsWith("123456789a\n")).toBe(true);
  expect(text.match(/exceeded limit of 10 bytes/gu)).toHaveLength(1);
  expect(text.endsWith("end\n")).toBe(true);
  expect(again.offsets).toEqual({ stdout: 15, stderr: 1 });
});

test("whatever is taken, and however often the trace is opened again, it is the pieces in their order", () => {
  const piece = tuple(constantFrom<TraceStream>("stdout", "stderr", "runner", "mark"), uint8Array({ maxLength: 40 }));
  const dir = tempDir();
  let count = 0;
  assert(
    property(array(array(piece, { maxLength: 5 }), { maxLength: 4 }), (sessions) => {
      const folder = join(dir, String((count += 1)));
      mkdirSync(folder);
      for (const session of sessions) {
        using trace = new TraceFile(folder, MAX);
        for (const [stream, bytes] of session) trace.append(stream, bytes);
      }
      using trace = new TraceFile(folder, MAX);
      const all = sessions.flat();
      const whole = Buffer.concat(all.map(([, bytes]) => bytes));
      expect(trace.read(0)).toEqual(whole);
      expect(trace.crc).toBe(crc32(whole));
      for (const stream of ["stdout", "stderr"] as const) {
        const own = all.filter(([of]) => of === stream).reduce((sum, [, bytes]) => sum + bytes.length, 0);
        expect(trace.offsets[stream]).toBe(own);
      }
    }),
    { numRuns: 50 },
  );
});
