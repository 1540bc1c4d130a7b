import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ReadableTrace } from "./readable-trace.ts";

function readable(text: string, sizes: readonly number[] = [Infinity]): string {
  const trace = new ReadableTrace();
  const bytes = Buffer.from(text);
  const shown: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    shown.push(trace.push(bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat([...shown, trace.end()]).toString();
}

const OFFICIAL = [
  "2026-11-23T05:54:42.907040Z 00O section_start:1795413282:prepare_script\r\u001B[0K",
  "2026-11-23T05:54:42.907046Z 00O+\u001B[0K\u001B[36;1mPreparing environment\u001B[0;m\u001B[0;m",
  "2026-11-23T05:54:43.496079Z 01O Running on é via vm...",
  "2026-11-23T05:54:43.553000Z 00O section_end:1795413283:prepare_script\r\u001B[0K",
  "2026-11-23T05:54:45.926952Z 01E not found",
  "",
].join("\n");

describe("ReadableTrace", () => {
  test("leaves out the times and the sections of GitLab's runner", () => {
    expect(readable(OFFICIAL)).toBe(
      "\u001B[36;1mPreparing environment\u001B[0;m\u001B[0;m\nRunning on é via vm...\nnot found\n",
    );
  });

  test("keeps a section's title that is on its line, and lines that are empty", () => {
    const line = "section_start:1:a.b-c[collapsed=true,hide_duration=true]\r\u001B[0KTitle\n";
    expect(readable(`${line}\n\nx\rsection_end:1:a.b-c\r\u001B[0K`)).toBe("Title\n\n\nx\r");
  });

  test("shows a line that never ends in pieces, and all of it", () => {
    const trace = new ReadableTrace();
    const long = "x".repeat(100_000);
    expect(trace.push(Buffer.from(long)).toString()).toBe(long);
    expect(trace.push(Buffer.from("2026-11-23T05:54:45.926952Z 01E y\n")).toString()).toBe(
      "2026-11-23T05:54:45.926952Z 01E y\n",
    );
  });

  test("says the same however the trace is cut, and changes no byte of another text", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
    fc.assert(fc.property(sizes, (some) => readable(OFFICIAL, some) === readable(OFFICIAL)));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), sizes, (data, some) => {
        const bytes = Buffer.from(data);
        const trace = new ReadableTrace();
        fc.pre(!bytes.includes("\u001B[0K") && !bytes.includes("section_"));
        const cut = some[0] ?? 1;
        const shown = Buffer.concat([trace.push(bytes.subarray(0, cut)), trace.push(bytes.subarray(cut)), trace.end()]);
        expect(shown.equals(bytes)).toBe(true);
      }),
    );
  });
});
