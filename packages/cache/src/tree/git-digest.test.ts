import { describe, expect, test } from "vitest";
import { gitBlobDigest, gitTreeDigest } from "./git-digest.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("gitBlobDigest()", () => {
  test("is git's well-known id of an empty file and of a line", () => {
    expect(gitBlobDigest(bytes(""), "sha1")).toBe("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    expect(gitBlobDigest(bytes(""))).toBe("473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
    expect(gitBlobDigest(bytes("hello\n"), "sha1")).toBe("ce013625030ba8dba906f756967f9e9ca394464a");
  });
});

describe("gitTreeDigest()", () => {
  test("is git's well-known id of an empty tree", () => {
    expect(gitTreeDigest([], "sha1")).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    expect(gitTreeDigest([])).toBe("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321");
  });

  test("does not depend on the order of entries", () => {
    const one = { name: "a", mode: "100644", digest: gitBlobDigest(bytes("1")) } as const;
    const two = { name: "b", mode: "100755", digest: gitBlobDigest(bytes("2")) } as const;
    expect(gitTreeDigest([two, one])).toBe(gitTreeDigest([one, two]));
    expect(gitTreeDigest([one, { ...two, mode: "100644" }])).not.toBe(gitTreeDigest([one, two]));
  });
});
