import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const LIFETIME_S = 30 * 24 * 3600;
/** Clients compare the time of issue with their own clock, which may be that of another machine. */
const SKEW_S = 300;
const READ_AND_WRITE = 3;

/**
 * The token of a job, in the shape of a JSON Web Token: `@actions/artifact` reads run and job from the claim `scp`,
 * BuildKit's cache client wants `ac`, `nbf` and `exp`. Whoever has the text has the job's rights; it is only ever
 * compared as a whole.
 */
export function createRuntimeToken(
  secret: Buffer,
  claims: { readonly runId: string; readonly jobId: string; readonly nowMs: number },
): string {
  const nowS = Math.floor(claims.nowMs / 1000);
  const payload = {
    iss: "steps",
    scp: `Actions.Results:${scopePart(claims.runId)}:${scopePart(claims.jobId)}`,
    ac: JSON.stringify([{ Scope: "refs/heads/main", Permission: READ_AND_WRITE }]),
    nbf: nowS - SKEW_S,
    iat: nowS,
    exp: nowS + LIFETIME_S,
  };
  const unsigned = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(payload)}`;
  return `${unsigned}.${createHmac("sha256", secret).update(unsigned).digest("base64url")}`;
}

/** An id as it stands between the colons of the claim `scp`. */
export function scopePart(id: string): string {
  return id.replaceAll(/[^\w.-]/g, "-") || "0";
}

/** Whether the header `Authorization` carries the token. Takes the same time for every wrong one. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const [, given = ""] = /^bearer +(\S+) *$/i.exec(header ?? "") ?? [];
  return isSameText(given, token);
}

/** Compares in a time that says nothing about where, or by how much, the two differ. */
export function isSameText(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
