import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAutomaton } from "./automaton.ts";
import { createMasker } from "./index.ts";
import { createMaskStream, maskBytes } from "./mask-stream.ts";

const word = (min: number, max: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom("a", "b"), minLength: min, maxLength: max });

function cut(text: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(text.subarray(at, at + size));
    at += size;
  }
  return [...chunks, text.subarray(at)];
}

describe("masking", () => {
  it("gives the same at any chunk border and leaves no secret", () => {
    const secrets = fc.array(word(5, 9), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(secrets, word(0, 80), fc.array(fc.nat(7), { maxLength: 30 }), (list, text, sizes) => {
        const masker = createMasker();
        for (const secret of list) masker.add(secret);
        const once = masker.text(text);
        const stream = masker.stream();
        const parts = cut(Buffer.from(text), sizes).map((chunk) => Buffer.from(stream.push(chunk)));
        expect(Buffer.concat([...parts, stream.end()]).toString()).toBe(once);
        for (const secret of list) expect(once).not.toContain(secret);
        // Nothing but secrets was taken out.
        if (!list.some((secret) => text.includes(secret))) expect(once).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });

  it("agrees with a search for each pattern at each place, with line breaks inside or not", () => {
    const patterns = fc.array(word(1, 6), { minLength: 1, maxLength: 4 });
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "\n"), maxLength: 60 });
    fc.assert(
      fc.property(
        patterns,
        text,
        fc.boolean(),
        fc.array(fc.nat(5), { maxLength: 20 }),
        (list, body, skipsBreaks, sizes) => {
          const bytes = Buffer.from(body);
          const automata = [
            createAutomaton(
              list.map((pattern) => Buffer.from(pattern)),
              { skipsBreaks },
            ),
          ];
          const once = Buffer.from(maskBytes(bytes, automata)).toString();
          if (!skipsBreaks) expect(once).toBe(naive(body, list));
          const stream = createMaskStream({ automata: () => automata, version: () => 1 });
          const parts = cut(bytes, sizes).map((chunk) => Buffer.from(stream.push(chunk)));
          expect(Buffer.concat([...parts, stream.end()]).toString()).toBe(once);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("leaves no secret when secrets are added in the course of a stream", () => {
    const steps = fc.array(fc.tuple(word(5, 8), word(0, 20)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(steps, (list) => {
        const masker = createMasker();
        const stream = masker.stream();
        for (const [secret, text] of list) {
          masker.add(secret);
          // A secret written after it became known, whatever was held back from before.
          const before = Buffer.from(stream.push(Buffer.from(`.${text}`))).toString();
          expect(before).not.toContain(secret);
        }
        for (const [secret] of list) {
          const out = Buffer.from(stream.push(Buffer.from(`.${secret}.`))).toString();
          expect(out).not.toContain(secret);
          expect(out).toContain("[MASKED]");
        }
      }),
    );
  });
});

function naive(text: string, patterns: readonly string[]): string {
  const spans: [number, number][] = [];
  for (let start = 0; start < text.length; start++) {
    for (const pattern of patterns) if (text.startsWith(pattern, start)) spans.push([start, start + pattern.length]);
  }
  spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let result = "";
  let end = 0;
  for (const [start, stop] of spans) {
    if (start >= end) result += `${text.slice(end, start)}[MASKED]`;
    end = Math.max(end, stop);
  }
  return result + text.slice(end);
}
