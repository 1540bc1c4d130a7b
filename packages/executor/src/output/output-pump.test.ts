import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { OutputPump } from "./output-pump.ts";

const FULL_READ = 64 * 1024;

interface World {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  readonly pump: OutputPump;
  readonly written: [name: string, text: string][];
}

function openPump(): World {
  const written: [string, string][] = [];
  const [stdout, stderr] = [new PassThrough({ highWaterMark: 1 << 20 }), new PassThrough()];
  const log = {
    write: (name: string, chunk: Uint8Array) => void written.push([name, Buffer.from(chunk).toString()]),
    close: () => Promise.resolve(undefined),
  };
  return { stdout, stderr, pump: new OutputPump(log, { stdout, stderr }, () => {}), written };
}

async function passOn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("OutputPump", () => {
  test("keeps a line whole that a full read of the pipe has cut", async () => {
    const { stdout, stderr, pump, written } = openPump();
    const line = `${"x".repeat(99)}\n`;
    const text = line.repeat(700);
    stdout.write(text.slice(0, FULL_READ));
    await passOn();
    stderr.write("between\n");
    await passOn();
    stdout.end(text.slice(FULL_READ));
    stderr.end();
    await pump.ended;
    expect(written.map(([name]) => name)).toEqual(["stdout", "stderr", "stdout"]);
    for (const [, part] of written) expect(part.endsWith("\n")).toBe(true);
    expect(written.map(([name, part]) => (name === "stdout" ? part : "")).join("")).toBe(text);
    expect(pump.bytes).toBe(text.length + "between\n".length);
  });

  test("passes on at once what is no full read, and a full one without a line's end", async () => {
    const { stdout, stderr, pump, written } = openPump();
    stdout.write("Password: ");
    await passOn();
    stdout.write("y".repeat(FULL_READ));
    await passOn();
    expect(written.map(([, part]) => part.length)).toEqual(["Password: ".length, FULL_READ]);
    stdout.end();
    stderr.end();
    await pump.ended;
  });

  test("gives the rest of a line that was cut when the stream ends there", async () => {
    const { stdout, stderr, pump, written } = openPump();
    const text = `${"x".repeat(FULL_READ - 10)}\n${"y".repeat(9)}`;
    stdout.end(text);
    stderr.end();
    await pump.ended;
    expect(written.map(([, part]) => part).join("")).toBe(text);
  });
});
