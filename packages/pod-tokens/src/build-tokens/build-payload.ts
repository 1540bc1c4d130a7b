import { decodeRouting, encodeRouting } from "../routing.ts";
import { BUILD_TOKEN_AUDIENCE, type BuildClaims, type BuildScope } from "./build-claims.ts";

const MAX_DEPENDENCIES = 1000;
const MAX_SCOPES = 50;
const SCOPE = /^(?:job:update|trace:append|artifacts:write|artifacts:read|(?:registry|api):[^\s]{1,100})$/;

/** Writes the claims as the members of a JSON Web Token. Members that are absent are left out, to keep the token short. */
export function writeBuildPayload(claims: BuildClaims): string {
  const { attempt, dependencies, routing, scopes } = claims;
  return JSON.stringify({
    iss: claims.issuer,
    aud: [BUILD_TOKEN_AUDIENCE],
    sub: `job:${claims.jobId}`,
    jti: claims.tokenId,
    iat: claims.issuedAt,
    nbf: claims.issuedAt,
    exp: claims.expiresAt,
    ...Object.fromEntries(encodeRouting(routing)),
    pod: claims.podName,
    rid: claims.runnerId,
    mid: claims.managerId,
    att: attempt,
    scp: scopes,
    deps: dependencies.length === 0 ? undefined : dependencies,
  });
}

/**
 * Reads the members of a token whose payload has the form that {@link writeBuildPayload} writes; undefined for any other. The
 * audience is checked elsewhere, since a token for somebody else is a sound token. `notBefore` stands apart from `issuedAt` only in
 * tokens of others.
 */
export function readBuildPayload(payload: Readonly<Record<string, unknown>>): BuildPayload | undefined {
  const { iss, aud, sub, jti, iat, nbf, exp, pod, rid, mid, att, scp, deps = [] } = payload;
  const jobId = typeof sub === "string" ? Number(/^job:(0|[1-9][0-9]{0,15})$/.exec(sub)?.[1]) : Number.NaN;
  const routing = decodeRouting(["c", "g", "o", "p", "u"].map((letter) => [letter, payload[letter]] as const));
  if (typeof iss !== "string" || typeof jti !== "string" || !isCount(jobId)) return undefined;
  if (!isCount(iat) || !isCount(nbf) || !isCount(exp) || !isCount(att)) return undefined;
  if (!isText(pod) || !(rid === undefined || isCount(rid)) || !(mid === undefined || isCount(mid))) return undefined;
  if (routing?.pod === undefined || !isScopes(scp) || !isIds(deps)) return undefined;
  const audience = typeof aud === "string" ? [aud] : Array.isArray(aud) ? aud : [];
  const claims: BuildClaims = {
    issuer: iss,
    jobId,
    tokenId: jti,
    issuedAt: iat,
    expiresAt: exp,
    routing: { ...routing, pod: routing.pod },
    podName: pod,
    runnerId: rid,
    managerId: mid,
    attempt: att,
    scopes: scp,
    dependencies: deps,
  };
  return { claims, notBefore: nbf, isForJobs: audience.includes(BUILD_TOKEN_AUDIENCE) };
}

/** The claims of a payload, and whether they are for the endpoints of jobs. */
export interface BuildPayload {
  readonly claims: BuildClaims;
  readonly notBefore: number;
  readonly isForJobs: boolean;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function isScopes(value: unknown): value is readonly BuildScope[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_SCOPES &&
    value.every((scope) => typeof scope === "string" && SCOPE.test(scope))
  );
}

function isIds(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length <= MAX_DEPENDENCIES && value.every(isCount);
}
