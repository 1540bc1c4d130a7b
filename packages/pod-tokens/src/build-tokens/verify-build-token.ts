import { verify } from "node:crypto";
import type { VerifyKey } from "../keys/signing-key.ts";
import type { VerifyKeys } from "../keys/verify-keys.ts";
import type { BuildClaims, BuildScope } from "./build-claims.ts";
import { type BuildPayload, readBuildPayload } from "./build-payload.ts";
import type { KnownTokens } from "./known-tokens.ts";
import { readSignedText, type SignedText } from "./signed-text.ts";

/** The clocks of a pod's processes may differ by that much. */
const LEEWAY_SECONDS = 60;

/** The purpose of a request, and the pod that it came to. */
export interface BuildTokenUse {
  readonly keys: VerifyKeys;
  /** The URL of this pod: the issuer of its tokens. */
  readonly issuer: string;
  /** The number of this pod. */
  readonly pod: number;
  /** Seconds since 1970. */
  readonly now: number;
  readonly scope: BuildScope;
  /** The job that the path names: the token's own, or for `artifacts:read` one of its dependencies too. */
  readonly jobId: number;
  /** Tokens whose signatures need not be checked again, and where those go that have been checked. Default: none. */
  readonly known?: KnownTokens | undefined;
}

/** The check that a token did not pass, in the order of the checks. For logs and counters: answers must not tell. */
export type BuildTokenRefusal = "form" | "key" | "signature" | "issuer" | "pod" | "time" | "scope" | "job";

/**
 * The outcome of a check: the token is good for the request as far as anybody can know who does not have the job, or it is refused.
 * The answer to a refusal is 403 in every case. A refusal has the claims of tokens that this pod did sign: only then may the answer tell
 * the state of the job that they name; every other refusal has to look like that of garbage.
 */
export type BuildTokenVerdict =
  | { readonly accepted: true; readonly claims: BuildClaims }
  | { readonly accepted: false; readonly refusal: BuildTokenRefusal; readonly claims?: BuildClaims | undefined };

/**
 * Checks a token for a request: form, known key, signature, issuer and audience, pod, time, scope, and the job of the path, in
 * that order. Nothing of the content counts before the signature has been checked. The caller still has to compare the state and
 * the attempt of the job.
 */
export function verifyBuildToken(token: string, use: BuildTokenUse): BuildTokenVerdict {
  const payload = use.known?.find(token, use.keys) ?? readSigned(token, use);
  if (typeof payload === "string") return refuse(payload);
  if (payload.claims.issuer !== use.issuer || !payload.isForJobs) return refuse("issuer");
  if (payload.claims.routing.pod !== use.pod) return refuse("pod");
  return checkUse(payload, use);
}

/** The content of a token that one of the keys signed, or the check that it did not pass. */
function readSigned(token: string, { keys, known }: BuildTokenUse): BuildPayload | "form" | "key" | "signature" {
  const text = readSignedText(token);
  const payload = text === undefined ? undefined : readBuildPayload(text.payload);
  if (text === undefined || payload === undefined) return "form";
  const { kid } = text;
  const key = keys.get(kid);
  // The algorithm is the key's: a header cannot choose another.
  if (key === undefined || key.algorithm !== text.algorithm) return "key";
  if (!isSignatureOf(key, text)) return "signature";
  known?.add(token, { kid, key, payload });
  return payload;
}

function checkUse({ claims, notBefore }: BuildPayload, use: BuildTokenUse): BuildTokenVerdict {
  const { now, jobId, scope } = use;
  if (now < notBefore - LEEWAY_SECONDS || now >= claims.expiresAt + LEEWAY_SECONDS) return refuse("time", claims);
  if (!claims.scopes.includes(scope)) return refuse("scope", claims);
  const isOther = scope === "artifacts:read" && claims.dependencies.includes(jobId);
  if (claims.jobId !== jobId && !isOther) return refuse("job", claims);
  return { accepted: true, claims };
}

function refuse(refusal: BuildTokenRefusal, claims?: BuildClaims): BuildTokenVerdict {
  return { accepted: false, refusal, claims };
}

function isSignatureOf({ algorithm, publicKey }: VerifyKey, { signed, signature }: SignedText): boolean {
  try {
    if (algorithm === "EdDSA") return verify(null, signed, publicKey, signature);
    if (algorithm === "RS256") return verify("sha256", signed, publicKey, signature);
    return verify("sha256", signed, { key: publicKey, dsaEncoding: "ieee-p1363" }, signature);
  } catch {
    return false;
  }
}
