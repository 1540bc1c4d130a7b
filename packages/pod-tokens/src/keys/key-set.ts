import type { JsonWebKey } from "node:crypto";
import { TokenError } from "../token-error.ts";
import {
  exportSigningKey,
  generateSigningKey,
  importSigningKey,
  type SigningAlgorithm,
  type SigningKey,
  verifyKeyOf,
} from "./signing-key.ts";
import type { VerifyKeys } from "./verify-keys.ts";

/** A key that signs nothing more, but whose last tokens still count. */
export interface PreviousKey {
  readonly key: SigningKey;
  /** Seconds since 1970: the last of its tokens has expired by then. */
  readonly verifiesUntil: number;
}

/**
 * The keys of one pod. `next` is published before it signs, so that everybody who keeps the published keys for a while knows it by
 * then; `active` signs; those of `previous` only verify.
 */
export interface KeySet {
  readonly next: SigningKey;
  readonly active: SigningKey;
  readonly previous: readonly PreviousKey[];
}

/** A key set as a pod stores it. It holds private keys. */
export interface StoredKeySet {
  readonly next: JsonWebKey;
  readonly active: JsonWebKey;
  readonly previous: readonly { readonly key: JsonWebKey; readonly verifiesUntil: number }[];
}

/** Makes the keys of a new pod. */
export function createKeySet(algorithm: SigningAlgorithm = "EdDSA"): KeySet {
  return { next: generateSigningKey(algorithm), active: generateSigningKey(algorithm), previous: [] };
}

/** The moment of a rotation, and what the new key is. */
export interface RotateOptions {
  /** Seconds since 1970. */
  readonly now: number;
  /** The longest time in seconds that a token of the old key may still live. */
  readonly maxLifetimeSeconds: number;
  /** The kind of the key after the next; that of the active key unless given. */
  readonly algorithm?: SigningAlgorithm | undefined;
}

/**
 * Moves every key on by one: `next` signs from now on, `active` verifies until its last token has expired, and keys whose time is
 * over are gone. Call it no sooner after the last time than published keys may be kept, since `next` has to be known everywhere.
 */
export function rotateKeySet(set: KeySet, { now, maxLifetimeSeconds, algorithm }: RotateOptions): KeySet {
  const retired = { key: set.active, verifiesUntil: now + maxLifetimeSeconds };
  return {
    next: generateSigningKey(algorithm ?? set.active.algorithm),
    active: set.next,
    previous: [retired, ...set.previous.filter(({ verifiesUntil }) => verifiesUntil > now)],
  };
}

/**
 * Takes a key out at once, with all tokens that it signed: the answer to a key that has leaked. If it is `active`, `next` signs in
 * its place. A `kid` that is not in the set changes nothing.
 */
export function revokeKey(set: KeySet, kid: string): KeySet {
  const fresh = (key: SigningKey): SigningKey => (key.kid === kid ? generateSigningKey(key.algorithm) : key);
  const previous = set.previous.filter(({ key }) => key.kid !== kid);
  if (set.active.kid === kid) return { next: generateSigningKey(set.next.algorithm), active: set.next, previous };
  return { next: fresh(set.next), active: set.active, previous };
}

/** The keys of a set that verify tokens at a moment, in seconds since 1970: what the pod checks with, and what it publishes. */
export function verifyKeysOf({ next, active, previous }: KeySet, now: number): VerifyKeys {
  const alive = previous.filter(({ verifiesUntil }) => verifiesUntil > now).map(({ key }) => key);
  return new Map([active, next, ...alive].map((key) => [key.kid, verifyKeyOf(key)]));
}

/** Writes a key set for storage. */
export function storeKeySet({ next, active, previous }: KeySet): StoredKeySet {
  return {
    next: exportSigningKey(next),
    active: exportSigningKey(active),
    previous: previous.map(({ key, verifiesUntil }) => ({ key: exportSigningKey(key), verifiesUntil })),
  };
}

/**
 * Reads a stored key set.
 *
 * @throws {TokenError} `KEY_INVALID` when a key or the form is wrong.
 */
export function loadKeySet(stored: StoredKeySet): KeySet {
  if (!Array.isArray(stored.previous) || stored.previous.some(({ verifiesUntil }) => !Number.isFinite(verifiesUntil))) {
    throw new TokenError("KEY_INVALID", "A stored set of keys has no list of previous keys with their times");
  }
  return {
    next: importSigningKey(stored.next),
    active: importSigningKey(stored.active),
    previous: stored.previous.map(({ key, verifiesUntil }) => ({ key: importSigningKey(key), verifiesUntil })),
  };
}
