import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ByteRange } from "./ranges.ts";
import { addRange, isCovered, parseContentRange, parseRange } from "./ranges.ts";

const aRange = fc.tuple(fc.nat(50), fc.nat(20)).map(([start, length]) => ({ start, end: start + length }));

test("addRange() keeps what a set of bytes would keep, sorted and without touching ranges", () => {
  fc.assert(
    fc.property(fc.array(aRange, { maxLength: 20 }), fc.nat(70), (added, size) => {
      const ranges: ByteRange[] = [];
      const bytes = new Set<number>();
      for (const range of added) {
        addRange(ranges, range);
        for (let at = range.start; at < range.end; at += 1) bytes.add(at);
      }
      const kept = ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, index) => start + index));
      expect(kept).toEqual([...bytes].toSorted((left, right) => left - right));
      ranges.forEach((range, index) => expect(range.start).toBeGreaterThan(ranges[index - 1]?.end ?? -1));
      const isWhole = bytes.size === size && [...bytes].every((at) => at < size);
      expect(isCovered(ranges, size)).toBe(isWhole);
    }),
  );
});

test("parseRange() stays within the content", () => {
  const anEnd = fc.oneof(fc.constant(""), fc.nat(120).map(String));
  fc.assert(
    fc.property(anEnd, anEnd, fc.nat(100), (first, last, size) => {
      const range = parseRange(`bytes=${first}-${last}`, size);
      if (range === undefined || range === "whole") return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.end).toBeGreaterThan(range.start);
      expect(range.end).toBeLessThanOrEqual(size);
      if (first !== "") expect(range.start).toBe(Number(first));
    }),
  );
});

test("parseContentRange() reads what it could have written, and nothing that cannot be", () => {
  fc.assert(
    fc.property(aRange, fc.option(fc.nat(100), { nil: undefined }), ({ start, end }, total) => {
      const parsed = parseContentRange(`bytes ${start}-${end - 1}/${total ?? "*"}`);
      expect(parsed).toEqual(total !== undefined && total < end ? undefined : { start, end, total });
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => parseContentRange(text) === undefined));
});
