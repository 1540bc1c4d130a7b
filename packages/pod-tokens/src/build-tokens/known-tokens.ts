import type { VerifyKey } from "../keys/signing-key.ts";
import type { VerifyKeys } from "../keys/verify-keys.ts";
import { hashToken } from "../runner-tokens/token-text.ts";
import type { BuildPayload } from "./build-payload.ts";

/** A token whose signature is that of the key. */
interface KnownToken {
  readonly kid: string;
  readonly key: VerifyKey;
  readonly payload: BuildPayload;
}

const MAX_KNOWN = 10_000;

/**
 * Build tokens whose signatures were checked and found good, by their hashes: a job sends one token with each of its calls, and the
 * signature is most of the work of checking it. Everything else about a token is checked each time, and one whose key is no longer
 * among the keys counts as unknown. Holds the 10,000 tokens that were used last.
 */
export class KnownTokens {
  readonly #known = new Map<string, KnownToken>();

  /** The content of a token that is known, and whose key still verifies. */
  find(token: string, keys: VerifyKeys): BuildPayload | undefined {
    const hash = hashToken(token);
    const known = this.#known.get(hash);
    if (known === undefined) return undefined;
    this.#known.delete(hash);
    if (keys.get(known.kid) !== known.key) return undefined;
    this.#known.set(hash, known);
    return known.payload;
  }

  /** Keeps a token whose signature has just been checked. */
  add(token: string, known: KnownToken): void {
    this.#known.set(hashToken(token), known);
    if (this.#known.size <= MAX_KNOWN) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}
