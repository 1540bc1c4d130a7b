import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import type { Value } from "@steps/model";
import type { BuiltinPlace } from "../../images/builtin-images.ts";

/** A key that signs the tokens of one job and then is gone. */
export interface TokenKey {
  /** The public half, as a server publishes it for those who check tokens (RFC 7517). */
  readonly jwks: Readonly<Record<string, Value>>;
  /** A JSON Web Token (RFC 7519), signed by RS256 as GitLab's are. */
  readonly sign: (claims: Readonly<Record<string, Value>>) => string;
}

/** Makes a key. */
export function createTokenKey(): TokenKey {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { kty = "", n = "", e = "" } = publicKey.export({ format: "jwk" });
  // RFC 7638: the digest of the required members in this order.
  const kid = createHash("sha256").update(JSON.stringify({ e, kty, n })).digest("base64url");
  return {
    jwks: { keys: [{ kty, n, e, kid, use: "sig", alg: "RS256" }] },
    sign: (claims) => signToken(claims, privateKey, kid),
  };
}

function signToken(claims: Readonly<Record<string, Value>>, key: KeyObject, kid: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", kid, typ: "JWT" })}.${part(claims)}`;
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
}

const LIFETIME_S = 3600;

// The claims that a variable of the job has the value of.
const VARIABLES: Readonly<Record<string, string>> = {
  namespace_id: "CI_PROJECT_NAMESPACE_ID",
  namespace_path: "CI_PROJECT_NAMESPACE",
  project_id: "CI_PROJECT_ID",
  project_path: "CI_PROJECT_PATH",
  user_id: "GITLAB_USER_ID",
  user_login: "GITLAB_USER_LOGIN",
  user_email: "GITLAB_USER_EMAIL",
  pipeline_id: "CI_PIPELINE_ID",
  pipeline_source: "CI_PIPELINE_SOURCE",
  job_id: "CI_JOB_ID",
  ref: "CI_COMMIT_REF_NAME",
  sha: "CI_COMMIT_SHA",
  project_visibility: "CI_PROJECT_VISIBILITY",
  environment: "CI_ENVIRONMENT_NAME",
};

/** The claims of a token for an audience, as GitLab's have them; what is not known is left out. */
export function claimsOf(
  audience: Value,
  options: {
    readonly env: BuiltinPlace["env"];
    readonly claims: Readonly<Record<string, Value>>;
    readonly nowS: number;
  },
): Readonly<Record<string, Value>> {
  const { env, claims, nowS } = options;
  const known = Object.entries(VARIABLES).flatMap(([claim, variable]) => {
    const value = env[variable] ?? "";
    return value === "" ? [] : [[claim, value] as const];
  });
  const isTag = (env["CI_COMMIT_TAG"] ?? "") !== "";
  const { project_path = "", ref = "", ...rest } = Object.fromEntries(known);
  const type = isTag ? "tag" : "branch";
  return {
    ...rest,
    project_path,
    ref,
    ref_type: type,
    ref_path: `refs/${isTag ? "tags" : "heads"}/${ref}`,
    ref_protected: "false",
    runner_environment: "self-hosted",
    sub: `project_path:${project_path}:ref_type:${type}:ref:${ref}`,
    iss: env["CI_SERVER_URL"] ?? "https://gitlab.com",
    iat: nowS,
    nbf: nowS - 5,
    exp: nowS + LIFETIME_S,
    jti: randomUUID(),
    aud: audience,
    ...claims,
  };
}
