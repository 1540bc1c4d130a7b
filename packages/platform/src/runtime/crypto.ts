import type * as Crypto from "node:crypto";
import { bun } from "./engine.ts";

/** The SHA-256 of data that comes in parts: a text counts as its UTF-8. Nothing may be added after its digest was asked for. */
export interface Sha256 {
  update(data: string | Uint8Array): unknown;
  /** 64 lower-case hex digits. */
  digest(encoding: "hex"): string;
}

/** Begins the SHA-256 of data that comes in parts. */
export function createSha256(): Sha256 {
  return bun === undefined ? crypto().createHash("sha256") : new bun.CryptoHasher("sha256");
}

/** The SHA-256 of bytes, or of a text in UTF-8: 64 lower-case hex digits. */
export function hashSha256(data: string | Uint8Array): string {
  return bun === undefined ? crypto().hash("sha256", data) : bun.CryptoHasher.hash("sha256", data, "hex");
}

/** Random bytes that nobody can guess, as twice as many lower-case hex digits. */
export function randomHex(byteCount: number): string {
  if (bun === undefined) return crypto().randomBytes(byteCount).toString("hex");
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(byteCount))).toString("hex");
}

// In the executable it takes with it all of Node's streams, which are a tenth of a short command's time; Bun's own needs nothing.
function crypto(): typeof Crypto {
  return process.getBuiltinModule("node:crypto");
}
