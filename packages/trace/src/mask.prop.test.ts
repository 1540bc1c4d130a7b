import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAutomaton } from "./automaton.ts";
import { createMasker } from "./entries/mask.ts";
import { createMaskStream, maskBytes } from "./mask-stream.ts";
import { SecretIndex } from "./secret-index.ts";

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
  test("gives the same at any chunk border and leaves no secret", () => {
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

  test("agrees with a search for each pattern at each place, with line breaks inside or not", () => {
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
          const once = Buffer.from(maskBytes(bytes, { automata })).toString();
          if (!skipsBreaks) expect(once).toBe(naive(body, list));
          const stream = createMaskStream({ patterns: () => ({ automata }), version: () => 1 });
          const parts = cut(bytes, sizes).map((chunk) => Buffer.from(stream.push(chunk)));
          expect(Buffer.concat([...parts, stream.end()]).toString()).toBe(once);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("gives lines that came whole as whole lines, whatever at their end may begin a secret", () => {
    const patterns = fc.array(word(1, 6), { minLength: 1, maxLength: 4 });
    const line = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 12 });
    const chunks = fc.array(
      fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => `${lines.join("\n")}\n`),
      { maxLength: 10 },
    );
    fc.assert(
      fc.property(patterns, chunks, fc.boolean(), (list, texts, skipsBreaks) => {
        const bytes = list.map((pattern) => Buffer.from(pattern));
        const automata = [createAutomaton(bytes, { skipsBreaks })];
        const stream = createMaskStream({ patterns: () => ({ automata }), version: () => 1 });
        // A mark may stand for a line's end too, where a secret was wrapped there.
        for (const text of texts)
          expect(Buffer.from(stream.push(Buffer.from(text))).toString()).toMatch(/^$|(?:\n|\])$/);
      }),
      { numRuns: 3000 },
    );
  });

  test("finds by the index what a search finds, at any chunk border, and holds back less than a piece", () => {
    const patterns = fc.array(word(5, 70), { minLength: 1, maxLength: 12 });
    const parts = fc.array(fc.oneof(word(0, 40), fc.nat(11), fc.constant("c")), { maxLength: 12 });
    fc.assert(
      fc.property(patterns, parts, fc.array(fc.nat(40), { maxLength: 30 }), (list, pieces, sizes) => {
        const index = new SecretIndex();
        for (const pattern of list) index.add(Buffer.from(pattern));
        const body = pieces
          .map((piece) => (typeof piece === "number" ? (list[piece % list.length] ?? "") : piece))
          .join("");
        const bytes = Buffer.from(body);
        const once = Buffer.from(maskBytes(bytes, { automata: [], index })).toString();
        // A text of more than 64 bytes is found in two pieces that overlap.
        const known = list.flatMap((text) => (text.length <= 64 ? [text] : [text.slice(0, 64), text.slice(-64)]));
        expect(once).toBe(naive(body, known));
        const stream = createMaskStream({ patterns: () => ({ automata: [], index }), version: () => 1 });
        let given = 0;
        let taken = "";
        for (const chunk of cut(bytes, sizes)) {
          given += chunk.length;
          taken += Buffer.from(stream.push(chunk)).toString();
          expect(taken.replaceAll("[MASKED]", "").length).toBeLessThanOrEqual(given);
        }
        expect(taken + Buffer.from(stream.end()).toString()).toBe(once);
      }),
      { numRuns: 3000 },
    );
  });

  test("masks a long text by the index with one mark, wherever it is cut", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 64, maxLength: 400 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(100), { maxLength: 30 }), fc.nat(3), (secret, sizes, copies) => {
        const index = new SecretIndex();
        index.add(Buffer.from(secret));
        const bytes = Buffer.from(`<${`${secret}.`.repeat(copies)}>`);
        const stream = createMaskStream({ patterns: () => ({ automata: [], index }), version: () => 1 });
        const parts = cut(bytes, sizes).map((chunk) => Buffer.from(stream.push(chunk)));
        expect(Buffer.concat([...parts, stream.end()]).toString()).toBe(`<${"[MASKED].".repeat(copies)}>`);
        expect(Buffer.from(maskBytes(bytes, { automata: [], index })).toString()).toBe(
          `<${"[MASKED].".repeat(copies)}>`,
        );
      }),
    );
  });

  test("leaves no secret when secrets are added in the course of a stream", () => {
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
