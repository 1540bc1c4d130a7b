import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMasker } from "./entries/mask.ts";

const PREFIX = /(gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt|tok)-|_gitlab_session=)[A-Za-z0-9._=-]+/g;

const PIECES = `gl|g|glpat-|pat-|glrtr-|rt-|glagent-|_gitlab|_session=|_gitlab_session=|_|-|=|a|Z9| |\n|é|[MASKED]|secret|sec|ret`;
// The long ones lead to the ways that are taken for long chunks, with few and with many places to look at.
const piece = fc.constantFrom(...PIECES.split("|"), "x".repeat(1100), "gl".repeat(900), "gl-".repeat(500));
const text = fc.array(piece, { maxLength: 25 }).map((parts) => parts.join(""));
const sizes = fc.array(fc.oneof(fc.nat(9), fc.nat(3000)), { maxLength: 40 });

function stream(input: string, cuts: readonly number[], secrets: readonly string[]): string {
  const masker = createMasker({ masksTokens: true });
  for (const secret of secrets) masker.add(secret);
  const bytes = Buffer.from(input);
  const mask = masker.stream();
  const out: Uint8Array[] = [];
  let at = 0;
  for (const size of cuts) {
    // A copy, so that what is given out and kept may not be a view of what comes next.
    out.push(Buffer.from(mask.push(Uint8Array.from(bytes.subarray(at, at + size)))));
    at += size;
  }
  out.push(Buffer.from(mask.push(bytes.subarray(at))), mask.end());
  return Buffer.concat(out).toString();
}

describe("tokens in streams", () => {
  test("are what the pattern says, at any border of chunks, without delay", () => {
    fc.assert(
      fc.property(text, sizes, (input, cuts) => {
        const expected = input.replaceAll(PREFIX, "$1[MASKED]");
        const masker = createMasker({ masksTokens: true });
        expect(masker.text(input)).toBe(expected);
        expect(Buffer.from(masker.bytes(Buffer.from(input))).toString()).toBe(expected);
        expect(stream(input, cuts, [])).toBe(expected);
      }),
      { numRuns: 5000 },
    );
  });

  test("are masked together with secrets, the same at any border", () => {
    fc.assert(
      fc.property(
        text,
        sizes,
        fc.constantFrom("secret", "a secret", "glpat-secret", "pat-secret-"),
        (input, cuts, secret) => {
          const masker = createMasker({ masksTokens: true });
          masker.add(secret);
          const once = masker.text(input);
          expect(stream(input, cuts, [secret])).toBe(once);
          expect(once).not.toContain(secret);
          expect(once).not.toMatch(new RegExp(PREFIX.source));
        },
      ),
      { numRuns: 5000 },
    );
  });
});

/** Masks a text by the rule itself: whatever follows a prefix is masked as far as it has the characters of a token. */
function maskedByRule(input: string, prefixes: readonly string[]): string {
  const isMasked = new Set<number>();
  for (const prefix of prefixes) {
    for (let at = input.indexOf(prefix); at !== -1; at = input.indexOf(prefix, at + 1)) {
      for (let i = at + prefix.length; /[\w.=-]/.test(input[i] ?? ""); i++) isMasked.add(i);
    }
  }
  let out = "";
  for (let i = 0; i < input.length; i++) {
    if (!isMasked.has(i)) out += input[i];
    else if (!isMasked.has(i - 1)) out += "[MASKED]";
  }
  return out;
}

describe("tokens with further prefixes", () => {
  const own = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "-", ":", "g", "l"), minLength: 1, maxLength: 5 }), {
    maxLength: 5,
  });
  const input = fc.array(fc.constantFrom("a", "b", "-", ":", "gl", "glpat-", "aab:", " ", "é"), { maxLength: 40 });

  test("are what the rule says, at any border of chunks, also where prefixes overlap", () => {
    fc.assert(
      fc.property(input, own, fc.array(fc.nat(9), { maxLength: 20 }), (parts, tokenPrefixes, cuts) => {
        const text = parts.join("");
        const expected = maskedByRule(text, ["glpat-", ...tokenPrefixes]);
        const masker = createMasker({ masksTokens: true, tokenPrefixes });
        expect(masker.text(text)).toBe(expected);
        const bytes = Buffer.from(text);
        const mask = masker.stream();
        const out: Uint8Array[] = [];
        let at = 0;
        for (const size of [...cuts, bytes.length]) {
          out.push(Buffer.from(mask.push(Uint8Array.from(bytes.subarray(at, at + size)))));
          at += size;
        }
        expect(Buffer.concat([...out, mask.end()]).toString()).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });
});
