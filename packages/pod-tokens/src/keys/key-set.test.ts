import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { calculateJwkThumbprint, exportJWK } from "jose";
import { describe, expect, test } from "vitest";
import {
  createKeySet,
  fromJsonWebKeySet,
  loadKeySet,
  revokeKey,
  rotateKeySet,
  storeKeySet,
  toJsonWebKeySet,
  verifyKeysOf,
} from "./index.ts";

const lifetime = { maxLifetimeSeconds: 1000 };
const kids = (set: Parameters<typeof verifyKeysOf>[0], now: number): string[] => [...verifyKeysOf(set, now).keys()];

describe("a key set", () => {
  test("rotates: next signs, active verifies until its last token has expired", () => {
    const first = createKeySet();
    const second = rotateKeySet(first, { now: 100, ...lifetime });
    expect(second.active.kid).toBe(first.next.kid);
    expect(kids(second, 1099)).toEqual([first.next.kid, second.next.kid, first.active.kid]);
    expect(kids(second, 1100)).toEqual([first.next.kid, second.next.kid]);
    const third = rotateKeySet(second, { now: 1100, ...lifetime, algorithm: "ES256" });
    expect(third.previous.map(({ key }) => key.kid)).toEqual([second.active.kid]);
    expect([third.active.algorithm, third.next.algorithm]).toEqual(["EdDSA", "ES256"]);
  });

  test("loses a key that has leaked at once, whichever it is", () => {
    const first = createKeySet();
    const set = rotateKeySet(first, { now: 0, ...lifetime });
    const withoutActive = revokeKey(set, set.active.kid);
    expect(withoutActive.active.kid).toBe(set.next.kid);
    expect(kids(withoutActive, 1)).toHaveLength(3);
    expect(kids(withoutActive, 1)).not.toContain(set.active.kid);
    expect(kids(revokeKey(set, set.next.kid), 1)).not.toContain(set.next.kid);
    expect(kids(revokeKey(set, first.active.kid), 1)).toEqual([set.active.kid, set.next.kid]);
    expect(kids(revokeKey(set, "unknown"), 1)).toEqual(kids(set, 1));
  });

  test("is the same after it was stored", () => {
    const set = rotateKeySet(createKeySet("ES256"), { now: 0, ...lifetime });
    const loaded = loadKeySet(JSON.parse(JSON.stringify(storeKeySet(set))));
    expect(kids(loaded, 1)).toEqual(kids(set, 1));
    expect(storeKeySet(loaded)).toEqual(storeKeySet(set));
  });

  test("is refused when what was stored is no key of a pod, without a word about the key", () => {
    const stored = storeKeySet(createKeySet());
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
    for (const active of [{}, { ...stored.active, d: "secret!" }, rsa]) {
      expect(() => loadKeySet({ ...stored, active })).toThrow(
        expect.objectContaining({
          code: "KEY_INVALID",
          message: expect.not.stringContaining("secret"),
        }),
      );
    }
  });
});

describe("published keys", () => {
  test("hold no private half, and have the thumbprints that jose calculates", async () => {
    for (const algorithm of ["EdDSA", "ES256"] as const) {
      const set = createKeySet(algorithm);
      const { keys } = toJsonWebKeySet(verifyKeysOf(set, 0));
      expect(keys).toHaveLength(2);
      for (const key of keys) expect(key).toMatchObject({ alg: algorithm, use: "sig" });
      expect(JSON.stringify(keys)).not.toContain('"d"');
      expect(set.active.kid).toBe(
        await calculateJwkThumbprint(await exportJWK(createPublicKey(set.active.privateKey))),
      );
    }
  });

  test("are read back, and keys that may verify nothing are left out", () => {
    const keys = verifyKeysOf(createKeySet(), 0);
    const [key] = toJsonWebKeySet(keys).keys;
    const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" });
    const unusable = [
      null,
      "key",
      {},
      { kty: "oct", k: "c2VjcmV0", kid: "s" },
      { ...key, use: "enc", kid: "e" },
      { ...key, alg: "ES256", kid: "a" },
      { ...key, x: "short", kid: "x" },
      { ...small, kid: "r" },
    ];
    expect([...fromJsonWebKeySet({ keys: [...unusable, key] }).keys()]).toEqual([key?.["kid"]]);
    for (const document of [null, [], "x", { keys: {} }]) expect(fromJsonWebKeySet(document).size).toBe(0);
  });
});
