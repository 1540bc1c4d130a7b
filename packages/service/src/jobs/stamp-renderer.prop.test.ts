import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LogStream } from "./index-record.ts";
import { StampRenderer } from "./stamp-renderer.ts";

interface Write {
  readonly stream: LogStream;
  readonly timeUs: number;
  readonly bytes: Buffer;
}

const START_US = 1_790_000_000_000_000;

// Short pieces of what matters, and long runs around the limit of 8 KiB.
const text = fc.oneof(
  fc
    .array(fc.constantFrom("a", "\n", "\r", "\0", "line", "\r\n", "ÿ"), { maxLength: 12 })
    .map((parts) => parts.join("")),
  fc
    .tuple(fc.integer({ min: 8180, max: 8200 }), fc.constantFrom("", "\n", "\r", "x\n\n"))
    .map(([n, end]) => "y".repeat(n) + end),
  fc
    .tuple(fc.integer({ min: 0, max: 20_000 }), fc.constantFrom("", "\n", "\rz"))
    .map(([n, end]) => "z".repeat(n) + end),
);
const writes: fc.Arbitrary<Write[]> = fc
  .array(fc.tuple(fc.constantFrom<LogStream>("stdout", "stderr", "runner"), text, fc.nat(3_000_000)), { maxLength: 20 })
  .map((items) => {
    let timeUs = START_US;
    return items.map(([stream, content, step]) => ({ stream, timeUs: (timeUs += step), bytes: Buffer.from(content) }));
  });

/** The format once more, a byte at a time. */
function reference(all: readonly Write[]): Buffer {
  const tags = { stdout: "01O", stderr: "01E", runner: "00E" };
  const lines = { stdout: blank(), stderr: blank(), runner: blank() };
  const out: Buffer[] = [];
  const emit = (stream: LogStream, isCut: boolean): void => {
    const line = lines[stream];
    const ms = Math.floor(line.timeUs / 1000);
    const stamp = new Date(ms).toISOString().replace("Z", `${String(line.timeUs % 1000).padStart(3, "0")}Z`);
    out.push(Buffer.from(`${stamp} ${tags[stream]}${line.isContinued ? "+" : " "}`), Buffer.from([...line.bytes, 10]));
    lines[stream] = { ...blank(), isContinued: isCut };
  };
  for (const { stream, timeUs, bytes } of all) {
    let hasReturn = false;
    for (const byte of bytes) {
      if (byte !== 10 && lines[stream].bytes.length === 8192) emit(stream, true);
      if (lines[stream].bytes.length === 0) lines[stream].timeUs = timeUs;
      if (byte === 10) emit(stream, false);
      else lines[stream].bytes.push(byte);
      hasReturn = byte === 13 || (hasReturn && byte !== 10);
    }
    if (hasReturn && lines[stream].bytes.length > 0) emit(stream, true);
  }
  for (const stream of ["stdout", "stderr", "runner"] as const) if (lines[stream].bytes.length > 0) emit(stream, false);
  return Buffer.concat(out);
}

function blank(): { timeUs: number; bytes: number[]; isContinued: boolean } {
  return { timeUs: 0, bytes: [], isContinued: false };
}

/** Renders with chunks of these sizes in turn, taking when there is no room, and begins anew from its state at times. */
function render(all: readonly Write[], sizes: readonly number[], restartEvery: number): Buffer {
  let renderer = new StampRenderer();
  const out: Buffer[] = [];
  let turn = 0;
  for (const [index, { stream, timeUs, bytes }] of all.entries()) {
    for (let at = 0; at < bytes.length;) {
      const chunk = bytes.subarray(at, at + (sizes[turn++ % sizes.length] as number));
      const used = renderer.push(stream, timeUs, chunk);
      if (used < chunk.length) out.push(renderer.take());
      at += used;
    }
    while (!renderer.endWrite(stream)) out.push(renderer.take());
    if (index % restartEvery !== 0) continue;
    out.push(renderer.take());
    renderer = new StampRenderer(renderer.state());
  }
  do out.push(renderer.take());
  while (renderer.endLine());
  out.push(renderer.take());
  return Buffer.concat(out);
}

describe("StampRenderer", () => {
  test("gives the same bytes however it is fed, and wherever it begins anew", () => {
    fc.assert(
      fc.property(
        writes,
        fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        (all, sizes, restartEvery) => {
          const expected = reference(all);
          expect(render(all, sizes, restartEvery).equals(expected)).toBe(true);
          expect(render(all, [1 << 30], 1000).equals(expected)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("writes headers of 32 bytes as GitLab's runner reads them", () => {
    const timeUs = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000 + 67;
    const write = (stream: LogStream, content: string): Write => ({ stream, timeUs, bytes: Buffer.from(content) });
    const all = [write("stdout", "a\n\nb"), write("runner", "r\n"), write("stderr", "10%\r"), write("stderr", "20%\n")];
    expect(render(all, [100], 100).toString().split("\n")).toEqual([
      "2026-01-02T03:04:05.000067Z 01O a",
      "2026-01-02T03:04:05.000067Z 01O ",
      "2026-01-02T03:04:05.000067Z 00E r",
      "2026-01-02T03:04:05.000067Z 01E 10%\r",
      "2026-01-02T03:04:05.000067Z 01E+20%",
      "2026-01-02T03:04:05.000067Z 01O b",
      "",
    ]);
  });
});
