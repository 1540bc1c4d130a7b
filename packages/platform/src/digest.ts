import { canonicalJson } from "@steps/model/value";
import { hashSha256 } from "./runtime/crypto.ts";

/** SHA-256 of bytes, or of a text in UTF-8: 64 lower-case hex digits. */
export function sha256(data: string | Uint8Array): string {
  return hashSha256(data);
}

/** SHA-256 of the canonical JSON (RFC 8785) of a value: 64 lower-case hex digits. */
export function digestOf(value: unknown): string {
  return sha256(canonicalJson(value));
}
