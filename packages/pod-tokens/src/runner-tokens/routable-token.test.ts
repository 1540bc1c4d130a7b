import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashToken, mintRoutableToken, parseRoutableToken, tokenFingerprint } from "../index.ts";

// A token that GitLab's own tests have.
const GITLABS = "glrtr-W5m1cHR6skC98Bx7XkuYjmM6MQpnOjgKbzpyegp0OjIQ.01.181uebm4k";
const routing = { pod: 1, group: 8, organization: 1007, runnerKind: 2 };
const numbers = fc.option(fc.maxSafeNat(), { nil: undefined });
const routings = fc
  .record({ organization: numbers, group: numbers, project: numbers, runnerKind: numbers, user: numbers })
  .chain((rest) => fc.maxSafeNat().map((pod) => ({ ...rest, pod })));
const prefixes = fc.stringMatching(/^[0-9A-Za-z_-]{0,19}-$/);
/** GitLab's published rule for the tokens of runners. */
const RULE = /^glrtr?-[0-9A-Za-z_-]{27,300}\.01\.[0-9a-z]{2}[0-9a-z]{7}$/;

describe("mintRoutableToken()", () => {
  test("writes the token of GitLab's tests byte for byte", () => {
    const random = Buffer.from("W5m1cHR6skC98Bx7XkuYjmM6", "base64url").subarray(0, 16);
    expect(mintRoutableToken({ prefix: "glrtr-", routing, random })).toBe(GITLABS);
  });

  test("writes what GitLab's rule matches, and parseRoutableToken() reads it back", () => {
    fc.assert(
      fc.property(routings, (routing) => {
        const token = mintRoutableToken({ routing });
        expect(token).toMatch(RULE);
        const known = Object.fromEntries(Object.entries(routing).filter(([, value]) => value !== undefined));
        expect(parseRoutableToken(token)).toEqual({ prefix: "glrt-", routing: known });
      }),
    );
  });

  test("takes any prefix that parseRoutableToken() finds again", () => {
    fc.assert(
      fc.property(prefixes, (prefix) => {
        expect(parseRoutableToken(mintRoutableToken({ prefix, routing }))).toEqual({ prefix, routing });
      }),
    );
  });

  test.each([
    ["a negative number", { routing: { pod: -1 } }],
    ["a fraction", { routing: { pod: 1, group: 0.5 } }],
    ["a number beyond the safe ones", { routing: { pod: 2 ** 53 } }],
    ["a prefix without its dash", { prefix: "glrt", routing }],
    ["a prefix that is too long", { prefix: `${"a".repeat(20)}-`, routing }],
    ["too few random bytes", { routing, random: Buffer.alloc(15) }],
  ])("refuses %s", (_, options) => {
    expect(() => mintRoutableToken(options)).toThrow(expect.objectContaining({ code: "TOKEN_INVALID" }));
  });
});

describe("parseRoutableToken()", () => {
  // GitLab's tests have these too: another checksum, no dots, a prefix in front of the prefix, no routing, a line without a number.
  test.each([
    "glrtr-W5m1cHR6skC98Bx7XkuYjmM6MQpnOjgKbzpyegp0OjIQ.01.181uebm4l",
    "glrtr-W5m1cHR6skC98Bx7XkuYjmM6MQpnOjgKbzpyegp0OjIQ",
    "wrong-glrtr-W5m1cHR6skC98Bx7XkuYjmM6MQpnOjgKbzpyegp0OjIQ.01.181uebm4k",
    "glrtr-8CLoDbhWwqW3qiRbgpHYEwA.01.0n",
    "glrtr-igz7z_MRijGFhUQwq0FCzWEKeAoxCjIH.01.0w",
    "glrt-",
    "",
  ])("gives nothing for %j", (text) => expect(parseRoutableToken(text)).toBeUndefined());

  test("gives nothing when one character of a token is another", () => {
    const characters = fc.constantFrom(..."0aZ_-.:\n \0ü".split(""));
    fc.assert(
      fc.property(fc.nat(GITLABS.length - 1), characters, (at, character) => {
        fc.pre(GITLABS[at] !== character);
        expect(parseRoutableToken(GITLABS.slice(0, at) + character + GITLABS.slice(at + 1))).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
  });

  test("gives nothing for other texts, however long, and throws for none", () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^glrt-[\w-]{27,40}\.01\.[0-9a-z]{9}$/));
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseRoutableToken(text)).toBeUndefined();
      }),
    );
    expect(parseRoutableToken("-".repeat(10_000_000))).toBeUndefined();
  });
});

describe("the text of a token", () => {
  test("tokenFingerprint() names a token as GitLab's runner does", () => {
    expect(tokenFingerprint(GITLABS)).toBe("W5m1cHR6s");
    expect(tokenFingerprint("glrt-t1_abcdefghijklmnopqrst")).toBe("abcdefghi");
    expect(tokenFingerprint("GR1348941abcdefghijklmnopqrst")).toBe("abcdefghi");
  });

  test("tokenFingerprint() shows nothing of any other text", () => {
    expect(tokenFingerprint("glrt-short")).toMatch(/^#[0-9a-f]{9}$/);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(tokenFingerprint(text)).toBe(`#${hashToken(text).slice(0, 9)}`);
      }),
    );
  });

  test("hashToken() is the SHA-256 of the text", () => {
    expect(hashToken("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});
