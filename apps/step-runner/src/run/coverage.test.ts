import { loadPatterns } from "@steps/model/pattern";
import { describe, expect, test } from "vitest";
import { CoverageReader } from "./coverage.ts";

async function createReader(body: string): Promise<CoverageReader> {
  return new CoverageReader((await loadPatterns())(body, ""));
}

async function coverageOf(body: string, chunks: readonly string[]): Promise<number | undefined> {
  const reader = await createReader(body);
  for (const chunk of chunks) reader.write("stdout", Buffer.from(chunk));
  return reader.end();
}

describe("CoverageReader", () => {
  test("puts lines together that come in pieces, and takes a last one without its end", async () => {
    expect(await coverageOf(String.raw`^all \d+$`, ["all 1\nal", "l 2", "3\r\nall", " 4", "5"])).toBe(45);
  });

  test("looks at the lines of each stream by itself", async () => {
    const reader = await createReader(String.raw`^all \d+$`);
    reader.write("stdout", Buffer.from("al"));
    reader.write("stderr", Buffer.from("all 3\n"));
    reader.write("stdout", Buffer.from("l 9\n"));
    expect(reader.end()).toBe(9);
  });

  test("looks at the end of a line that is very long", async () => {
    const long = Array.from({ length: 1000 }, () => "x".repeat(10_000));
    expect(await coverageOf(String.raw`all \d+`, [...long, "all 7", " ", "\n"])).toBe(7);
    expect(await coverageOf(String.raw`all \d+`, ["all 7", ...long, "8\n"])).toBeUndefined();
  });

  test("keeps the number of a line before where the match has none", async () => {
    expect(await coverageOf("all .*", ["all 12.50%\nall is well\n0 all of it\n"])).toBe(12.5);
  });
});
