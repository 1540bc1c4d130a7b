import { createPublicKey, type JsonWebKey } from "node:crypto";
import { algorithmOf, thumbprint, type VerifyKey } from "./signing-key.ts";

/** The keys with which a token may be checked, by their `kid`. */
export type VerifyKeys = ReadonlyMap<string, VerifyKey>;

/** A document of `/.well-known/jwks.json`: the public halves of a pod's keys. */
export interface JsonWebKeySet {
  readonly keys: readonly JsonWebKey[];
}

const MAX_KEYS = 100;

/** Writes keys as they are published. */
export function toJsonWebKeySet(keys: VerifyKeys): JsonWebKeySet {
  return {
    keys: Array.from(keys.values(), ({ kid, algorithm, publicKey }) => ({
      ...publicKey.export({ format: "jwk" }),
      kid,
      alg: algorithm,
      use: "sig",
    })),
  };
}

/**
 * Reads keys that somebody publishes, such as another issuer whose tokens are compared. Keys for other purposes and of other kinds
 * are left out, as RFC 7517 wants; a document of another form has no keys. At most 100 are read.
 */
export function fromJsonWebKeySet(document: unknown): VerifyKeys {
  const list = (document as { keys?: unknown } | null | undefined)?.keys;
  const keys = Array.isArray(list) ? list.slice(0, MAX_KEYS).flatMap(readKey) : [];
  return new Map(keys.map((key) => [key.kid, key]));
}

function readKey(jwk: unknown): readonly VerifyKey[] {
  if (typeof jwk !== "object" || jwk === null) return [];
  const { use, alg, kid, kty } = jwk as JsonWebKey;
  // A symmetric key in a public document must never verify anything.
  if ((use !== undefined && use !== "sig") || typeof kty !== "string" || !["OKP", "EC", "RSA"].includes(kty)) return [];
  try {
    const publicKey = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
    const algorithm = algorithmOf(publicKey);
    if (algorithm === undefined || (alg !== undefined && alg !== algorithm)) return [];
    return [{ kid: typeof kid === "string" ? kid : thumbprint(publicKey), algorithm, publicKey }];
  } catch {
    return [];
  }
}
