import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { TokenError } from "../token-error.ts";

/** How a pod signs: Ed25519, or ECDSA with P-256 for verifiers that know nothing newer. */
export type SigningAlgorithm = "EdDSA" | "ES256";

/** How a signature may have been made. Keys of RSA verify only: no pod of ours signs with one. */
export type VerifyAlgorithm = SigningAlgorithm | "RS256";

/** A key with which a pod signs the tokens of its jobs. */
export interface SigningKey {
  /** The thumbprint of the public key, by RFC 7638: two keys never have the same. */
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly privateKey: KeyObject;
}

/** A key with which signatures are checked. */
export interface VerifyKey {
  readonly kid: string;
  readonly algorithm: VerifyAlgorithm;
  readonly publicKey: KeyObject;
}

/** Makes a new key. */
export function generateSigningKey(algorithm: SigningAlgorithm = "EdDSA"): SigningKey {
  const { privateKey } =
    algorithm === "EdDSA" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { kid: thumbprint(createPublicKey(privateKey)), algorithm, privateKey };
}

/**
 * Reads a private key in the form of a JSON Web Key, as {@link exportSigningKey} writes it.
 *
 * @throws {TokenError} `KEY_INVALID`, without a word about the content.
 */
export function importSigningKey(jwk: JsonWebKey): SigningKey {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey({ key: jwk, format: "jwk" });
  } catch {
    // The cause would quote the key.
    throw new TokenError("KEY_INVALID", "A stored key of a pod is no private key in the form of a JSON Web Key");
  }
  const publicKey = createPublicKey(privateKey);
  const algorithm = algorithmOf(publicKey);
  if (algorithm === undefined || algorithm === "RS256") {
    throw new TokenError("KEY_INVALID", "A pod signs with a key of Ed25519 or P-256 only");
  }
  return { kid: thumbprint(publicKey), algorithm, privateKey };
}

/** The private key as a JSON Web Key, for the pod's own storage and nobody else. */
export function exportSigningKey(key: SigningKey): JsonWebKey {
  return key.privateKey.export({ format: "jwk" });
}

/** The half of a key that may be published. */
export function verifyKeyOf({ kid, algorithm, privateKey }: SigningKey): VerifyKey {
  return { kid, algorithm, publicKey: createPublicKey(privateKey) };
}

/** The algorithm that goes with a key; undefined for kinds of keys that are not used for tokens, and for short keys of RSA. */
export function algorithmOf(publicKey: KeyObject): VerifyAlgorithm | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey;
  if (type === "ed25519") return "EdDSA";
  if (type === "ec" && details?.namedCurve === "prime256v1") return "ES256";
  return type === "rsa" && (details?.modulusLength ?? 0) >= 2048 ? "RS256" : undefined;
}

/** RFC 7638: the SHA-256 of the members that make a key what it is, sorted, in JSON without spaces. */
export function thumbprint(publicKey: KeyObject): string {
  const jwk = publicKey.export({ format: "jwk" });
  const members =
    { OKP: ["crv", "kty", "x"], EC: ["crv", "kty", "x", "y"], RSA: ["e", "kty", "n"] }[jwk.kty ?? ""] ?? [];
  const text = JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]])));
  return createHash("sha256").update(text).digest("base64url");
}
