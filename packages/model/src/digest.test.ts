import { describe, expect, it } from "vitest";
import { digestOf, gitBlobDigest, gitTreeDigest, sha256, shortDigest } from "./digest.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("sha256()", () => {
  it("is the digest of the bytes, of a string in UTF-8", () => {
    expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(sha256("é")).toBe(sha256(bytes("é")));
  });
});

describe("digestOf()", () => {
  it("does not depend on the order of keys", () => {
    expect(digestOf({ a: 1, b: [2] })).toBe(digestOf({ b: [2], a: 1 }));
    expect(digestOf({ a: 1 })).toBe(sha256('{"a":1}'));
  });
});

describe("gitBlobDigest()", () => {
  it("is git's well-known id of an empty file and of a line", () => {
    expect(gitBlobDigest(bytes(""), "sha1")).toBe("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    expect(gitBlobDigest(bytes(""))).toBe("473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
    expect(gitBlobDigest(bytes("hello\n"), "sha1")).toBe("ce013625030ba8dba906f756967f9e9ca394464a");
  });
});

describe("gitTreeDigest()", () => {
  it("is git's well-known id of an empty tree", () => {
    expect(gitTreeDigest([], "sha1")).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    expect(gitTreeDigest([])).toBe("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321");
  });

  it("does not depend on the order of entries", () => {
    const one = { name: "a", mode: "100644", digest: gitBlobDigest(bytes("1")) } as const;
    const two = { name: "b", mode: "100755", digest: gitBlobDigest(bytes("2")) } as const;
    expect(gitTreeDigest([two, one])).toBe(gitTreeDigest([one, two]));
    expect(gitTreeDigest([one, { ...two, mode: "100644" }])).not.toBe(gitTreeDigest([one, two]));
  });
});

describe("shortDigest()", () => {
  it("is the first 12 digits", () => {
    expect(shortDigest("0123456789abcdef")).toBe("0123456789ab");
  });
});
