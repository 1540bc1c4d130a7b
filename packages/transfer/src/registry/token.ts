import { TransferError, throwIfCancelled } from "../error.ts";
import { readBody, request, statusError } from "../http/http-client.ts";
import type { Remote } from "../http/remote.ts";
import type { Challenge } from "./challenge.ts";
import type { Credentials } from "./docker-config.ts";
import { isLoopback } from "./image-request.ts";

/** Something to send as `Authorization: Bearer`, until it is too old. */
export interface Token {
  readonly value: string;
  /** On the clock of `performance.now()`. */
  readonly expiresAt: number;
}

export interface TokenRequest {
  readonly challenge: Challenge;
  /** Scheme and host of the registry. */
  readonly origin: string;
  /** The scope that is requested if the challenge names none: `repository:NAME:pull`. */
  readonly scope: string;
  readonly credentials: Credentials | undefined;
  /** Whether somebody said that credentials of this registry may go to that host. */
  readonly isKnownHost: (host: string) => Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

const MAX_ANSWER_BYTES = 256 * 1024;
/**
 * The lifetime of a token when the server does not tell it, from the token specification of the distribution project.
 */
const DEFAULT_EXPIRY_S = 60;
const EXPIRY_MARGIN_S = 10;

/**
 * Fetches a token from the server that a registry's challenge names: as `GET` with the user's name and password, or as
 * OAuth 2 `POST` with a refresh token. The server must be asked by https, unless it and the registry are on this machine
 * or the same host, and gets credentials only if it belongs to the registry's site or somebody named it.
 *
 * @throws {TransferError} AUTH_FAILED, TRANSPORT
 */
export async function fetchToken(options: TokenRequest): Promise<Token> {
  const { challenge, origin, credentials, signal } = options;
  const realm = checkRealm(challenge.parameters["realm"], origin);
  if (credentials !== undefined && !(await mayReceive(realm, options))) {
    throw new TransferError(
      "AUTH_FAILED",
      `Cannot authenticate at "${origin}": it asks for a token from "${realm.host}", which does not get its credentials`,
      { hint: `If that is right, name "${realm.host}" in the auths of DOCKER_AUTH_CONFIG, too.` },
    );
  }
  const values = {
    ...(challenge.parameters["service"] === undefined ? {} : { service: challenge.parameters["service"] }),
    scope: challenge.parameters["scope"] ?? options.scope,
  };
  const { username, password, identityToken } = credentials ?? {};
  const isPost = identityToken !== undefined;
  const isBasic = !isPost && username !== undefined && password !== undefined;
  const remote: Remote = {
    location: realm.href,
    url: realm.href,
    scheme: realm.protocol === "http:" ? "http" : "https",
    authorization: isBasic ? basic(username, password) : undefined,
    isMirror: false,
  };
  const form = new URLSearchParams({ grant_type: "refresh_token", client_id: "step-runner", ...values });
  if (isPost) form.set("refresh_token", identityToken);
  const query = new URL(realm);
  for (const [key, value] of Object.entries(values)) query.searchParams.set(key, value);
  const answer = await request(remote, {
    ...(isPost
      ? {
          url: realm.href,
          method: "POST",
          body: new TextEncoder().encode(form.toString()),
          headers: { "content-type": "application/x-www-form-urlencoded" },
        }
      : { url: query.href }),
    signal,
  });
  const failure = statusError(realm.href, answer.response.status);
  const body: Uint8Array[] = [];
  for await (const chunk of readBody(answer, { maxBytes: MAX_ANSWER_BYTES, signal })) body.push(chunk);
  throwIfCancelled(signal);
  if (failure !== undefined) throw new TransferError("AUTH_FAILED", failure.message, { hint: failure.hint });
  return readToken(Buffer.concat(body).toString("utf8"), realm.host);
}

/** The value of an `Authorization` header for a name and a password. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function checkRealm(text: string | undefined, origin: string): URL {
  const refuse = (problem: string): TransferError =>
    new TransferError("AUTH_FAILED", `Cannot authenticate at "${origin}": ${problem}`);
  if (text === undefined || !URL.canParse(text)) throw refuse("it does not say where tokens come from");
  const realm = new URL(text);
  if (realm.username !== "" || realm.password !== "") throw refuse("its token server's URL holds a user name");
  const isNear = realm.host === new URL(origin).host || isLoopback(realm.host);
  const isPlain = realm.protocol === "http:" && origin.startsWith("http:") && isNear;
  if (realm.protocol !== "https:" && !isPlain) throw refuse(`its token server "${realm.host}" is not asked by https`);
  // A registry elsewhere has no business with what runs on this machine or serves its cloud's metadata.
  const isPrivate = isLoopback(realm.host) || /^(?:169\.254\.|\[fe80:|0\.)/i.test(realm.host);
  if (isPrivate && !isLoopback(new URL(origin).host)) throw refuse(`its token server is "${realm.host}"`);
  realm.hash = "";
  return realm;
}

async function mayReceive(realm: URL, { origin, isKnownHost }: TokenRequest): Promise<boolean> {
  const registry = new URL(origin).hostname;
  return realm.hostname === registry || siteOf(realm.hostname) === siteOf(registry) || (await isKnownHost(realm.host));
}

// Without the list of public suffixes: two labels, or three below short ones such as `co.uk`. An address is a site.
function siteOf(hostname: string): string {
  if (hostname.startsWith("[") || /^[\d.]+$/.test(hostname)) return hostname;
  const labels = hostname.split(".");
  const isShort = (labels.at(-1)?.length ?? 0) === 2 && (labels.at(-2)?.length ?? 0) <= 3;
  return labels.slice(isShort ? -3 : -2).join(".");
}

function readToken(text: string, host: string): Token {
  const refuse = (problem: string): TransferError =>
    new TransferError("AUTH_FAILED", `Cannot use the answer of token server "${host}": ${problem}`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's sentence would quote the token.
    throw refuse("it is no JSON");
  }
  const answer = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  const value = [answer["token"], answer["access_token"]].find((item) => typeof item === "string" && item !== "");
  // A header takes no line break.
  if (typeof value !== "string" || !/^[\u0021-\u007e]+$/.test(value)) throw refuse("it holds no token");
  const expires = answer["expires_in"];
  const expiresInS =
    typeof expires === "number" && Number.isFinite(expires) && expires > 0 ? expires : DEFAULT_EXPIRY_S;
  return { value, expiresAt: performance.now() + Math.max(0, expiresInS - EXPIRY_MARGIN_S) * 1000 };
}
