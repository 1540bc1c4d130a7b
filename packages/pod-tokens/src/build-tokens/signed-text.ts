import { decodeBase64Url } from "../base64url.ts";
import type { VerifyAlgorithm } from "../keys/signing-key.ts";
import { BUILD_TOKEN_PREFIX } from "./build-claims.ts";

/** The parts of a token whose signature nobody has looked at yet. */
export interface SignedText {
  readonly algorithm: VerifyAlgorithm;
  readonly kid: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The bytes that the signature is about. */
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** A header of HTTP has to hold it beside others, and Node takes 16 KiB of them. */
export const MAX_BUILD_TOKEN = 8192;
const ALGORITHMS: readonly unknown[] = ["EdDSA", "ES256", "RS256"] satisfies VerifyAlgorithm[];

/** Takes a token apart: the prefix, then a JSON Web Signature in its compact form. Undefined for any other text. */
export function readSignedText(token: string): SignedText | undefined {
  if (token.length > MAX_BUILD_TOKEN || !token.startsWith(BUILD_TOKEN_PREFIX)) return undefined;
  const text = token.slice(BUILD_TOKEN_PREFIX.length);
  const [first, second, third, ...more] = text.split(".", 4);
  if (first === undefined || second === undefined || third === undefined || more.length > 0) return undefined;
  const header = readObject(first);
  const payload = readObject(second);
  const signature = decodeBase64Url(third);
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  const { alg, kid, typ = "JWT" } = header;
  // A header may ask for rules that are not known here: `crit` says so, and `b64` changes what is signed.
  if (!ALGORITHMS.includes(alg) || typeof kid !== "string" || typ !== "JWT" || "crit" in header || "b64" in header) {
    return undefined;
  }
  const signed = Buffer.from(`${first}.${second}`, "latin1");
  return { algorithm: alg as VerifyAlgorithm, kid, payload, signed, signature };
}

function readObject(part: string): Readonly<Record<string, unknown>> | undefined {
  const bytes = decodeBase64Url(part);
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
