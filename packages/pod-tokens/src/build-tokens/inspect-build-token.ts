import type { VerifyAlgorithm } from "../keys/signing-key.ts";
import type { Routing } from "../routing.ts";
import { decodeRouting } from "../routing.ts";
import type { BuildClaims } from "./build-claims.ts";
import { readBuildPayload } from "./build-payload.ts";
import { readSignedText } from "./signed-text.ts";

/** The claims that a token makes. Nobody has checked them. */
export interface InspectedBuildToken {
  readonly algorithm: VerifyAlgorithm;
  readonly kid: string;
  readonly claims: BuildClaims;
}

/** Reads a token without any key, for people who look at one. Undefined when it is no token of a job of ours. */
export function inspectBuildToken(token: string): InspectedBuildToken | undefined {
  const text = readSignedText(token);
  const payload = text === undefined ? undefined : readBuildPayload(text.payload);
  if (text === undefined || payload === undefined) return undefined;
  return { algorithm: text.algorithm, kid: text.kid, claims: payload.claims };
}

/**
 * Reads where a job's token belongs, without any key, for a router. Other members of the token do not matter, so that it reads
 * tokens of GitLab too. Undefined when the token has no form that is known.
 */
export function routingOfBuildToken(token: string): Routing | undefined {
  const payload = readSignedText(token)?.payload;
  return payload && decodeRouting(["c", "g", "o", "p", "u"].map((letter) => [letter, payload[letter]] as const));
}
