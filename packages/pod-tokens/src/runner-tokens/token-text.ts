import { hash } from "node:crypto";

/**
 * The form in which a token is stored and looked up: the SHA-256 of its text, in hex. A slow hash would add nothing, since a
 * token holds 128 random bits.
 */
export function hashToken(token: string): string {
  return hash("sha256", token);
}

/**
 * Names a token in logs without telling it: the first nine characters after the prefix, as GitLab's runner names its own tokens,
 * or the first nine digits of its hash, after `#`, for texts that are no token of a runner.
 */
export function tokenFingerprint(token: string): string {
  const known = /^(?:glrtr?-(?:t[123]_)?|GR1348941)(?<text>[0-9A-Za-z_-]{20,})/.exec(token)?.groups?.["text"];
  return known === undefined ? `#${hashToken(token).slice(0, 9)}` : known.slice(0, 9);
}
