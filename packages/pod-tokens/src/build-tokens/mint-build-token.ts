import { checkOptionNames, type OptionNames } from "@steps/model";
import { randomBytes, sign } from "node:crypto";
import type { SigningKey } from "../keys/signing-key.ts";
import { TokenError } from "../token-error.ts";
import { BUILD_TOKEN_PREFIX, type BuildClaims, JOB_SCOPES } from "./build-claims.ts";
import { writeBuildPayload } from "./build-payload.ts";
import { MAX_BUILD_TOKEN } from "./signed-text.ts";

/** The last traces and the final state arrive after the end of the job's time. */
const LEEWAY_SECONDS = 300;

/** The longest life of a job's token in seconds: 31 days, since GitLab gives a job a month at most. */
export const MAX_BUILD_TOKEN_SECONDS: number = 31 * 24 * 3600;

/** The job that a token is for. */
export interface BuildTokenOptions extends Omit<
  BuildClaims,
  "tokenId" | "issuedAt" | "expiresAt" | "scopes" | "dependencies"
> {
  /** Seconds since 1970. */
  readonly now: number;
  /** The time that the job may take. The token lives five minutes longer, and no token lives longer than 31 days. */
  readonly timeoutSeconds: number;
  /** All rights of a runner unless given. */
  readonly scopes?: BuildClaims["scopes"] | undefined;
  readonly dependencies?: BuildClaims["dependencies"] | undefined;
}

const OPTION_NAMES: OptionNames<BuildTokenOptions> = {
  now: true,
  timeoutSeconds: true,
  scopes: true,
  dependencies: true,
  issuer: true,
  jobId: true,
  routing: true,
  podName: true,
  runnerId: true,
  managerId: true,
  attempt: true,
};

/**
 * Makes the token of a job: `glcbt-` and a JSON Web Token that the key signs. It needs no storage: the state of the job and its
 * attempt take it back.
 *
 * @throws {TokenError} `TOKEN_INVALID` when a number cannot be written or the token would be longer than 8 KiB.
 */
export function mintBuildToken(key: SigningKey, options: BuildTokenOptions): string {
  checkOptionNames("mintBuildToken()", options, OPTION_NAMES);
  const { now, timeoutSeconds, scopes = JOB_SCOPES, dependencies = [] } = options;
  const issuedAt = Math.floor(now);
  const lifetime = Math.min(Math.ceil(timeoutSeconds) + LEEWAY_SECONDS, MAX_BUILD_TOKEN_SECONDS);
  for (const count of [issuedAt, lifetime, options.jobId, options.attempt, ...dependencies]) {
    if (!Number.isSafeInteger(count) || count < 0) {
      throw new TokenError("TOKEN_INVALID", `The token of a job holds whole numbers from 0, not ${count}`);
    }
  }
  const tokenId = randomBytes(12).toString("base64url");
  const expiresAt = issuedAt + lifetime;
  const payload = writeBuildPayload({ ...options, tokenId, issuedAt, expiresAt, scopes, dependencies });
  const header = JSON.stringify({ alg: key.algorithm, kid: key.kid, typ: "JWT" });
  const text = `${toBase64Url(header)}.${toBase64Url(payload)}`;
  const token = `${BUILD_TOKEN_PREFIX}${text}.${signText(key, text)}`;
  if (token.length > MAX_BUILD_TOKEN) {
    throw new TokenError("TOKEN_INVALID", `The token of job ${options.jobId} would have ${token.length} characters`);
  }
  return token;
}

function signText({ algorithm, privateKey }: SigningKey, text: string): string {
  const bytes = Buffer.from(text, "latin1");
  const signature =
    algorithm === "EdDSA"
      ? sign(null, bytes, privateKey)
      : sign("sha256", bytes, { key: privateKey, dsaEncoding: "ieee-p1363" });
  return signature.toString("base64url");
}

function toBase64Url(text: string): string {
  return Buffer.from(text).toString("base64url");
}
