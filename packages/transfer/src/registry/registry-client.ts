import { TransferError } from "../error.ts";
import type { HttpAnswer, HttpRequest } from "../http/http-client.ts";
import { request } from "../http/http-client.ts";
import { type Challenge, parseChallenges } from "./challenge.ts";
import { credentialsFor, isKnownTokenHost } from "./credentials.ts";
import type { Credentials } from "./docker-config.ts";
import type { RegistryEndpoint } from "./image-request.ts";
import { basic, fetchToken, type Token } from "./token.ts";

/** The options of a client of a registry. */
export interface RegistryOptions {
  /** Environment of the step, where credentials are looked for first. */
  readonly stepEnv: Readonly<Record<string, string>>;
  readonly actions: "pull" | "pull,push";
}

/** A request to a registry. */
export interface RegistryRequest extends Omit<HttpRequest, "url"> {
  /** Below `/v2/`, or a URL that the registry gave. */
  readonly path: string;
}

/** Speaks with one repository of a registry, with whatever authentication it wants. */
export interface RegistryClient {
  readonly endpoint: RegistryEndpoint;
  /** Any status but 401 is the caller's. @throws {TransferError} AUTH_FAILED, TRANSPORT, CANCELLED */
  send(options: RegistryRequest): Promise<HttpAnswer>;
}

/** The facts about registries that are remembered while a cache object lives. They are never written anywhere. */
interface Known {
  readonly origins: Map<string, string>;
  readonly tokens: Map<string, Token>;
}

const known = new WeakMap<RegistryOwner, Known>();

/** The object on whose behalf registries are asked, and for which what is learned of them is remembered. */
export interface RegistryOwner {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Opens a client. Nothing is asked before the first request. */
export function openRegistry(
  context: RegistryOwner,
  endpoint: RegistryEndpoint,
  options: RegistryOptions,
): RegistryClient {
  const memory = known.get(context) ?? { origins: new Map(), tokens: new Map() };
  known.set(context, memory);
  const session = createSession(context, endpoint, options, memory);
  return {
    endpoint,
    async send({ path, ...rest }) {
      const origin = await originOf(endpoint, memory, rest.signal);
      const url = /^https?:/i.test(path) ? path : `${origin}/v2/${path}`;
      const ask = async (authorization: string | undefined): Promise<HttpAnswer> => {
        const remote = { location: origin, url: origin, scheme: "https", authorization, isMirror: false } as const;
        return await request(remote, { ...rest, url });
      };
      const first = await ask(session.current());
      if (first.response.status !== 401) return first;
      const challenges = parseChallenges(first.response.headers.get("www-authenticate"));
      await first.response.body?.cancel();
      // A challenge from elsewhere is about something else than this registry.
      const isOwn = new URL(first.url).origin === origin;
      const authorization = isOwn ? await session.answer(challenges, origin, rest.signal) : undefined;
      if (authorization === undefined) throw session.refused(401);
      const second = await ask(authorization);
      if (second.response.status !== 401) return second;
      await second.response.body?.cancel();
      throw session.refused(401);
    },
  };
}

interface Session {
  /** Returns the authorization that an earlier answer asked for, or undefined. */
  current(): string | undefined;
  answer(
    challenges: readonly Challenge[],
    origin: string,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined>;
  refused(status: number): TransferError;
}

function createSession(
  context: RegistryOwner,
  endpoint: RegistryEndpoint,
  options: RegistryOptions,
  memory: Known,
): Session {
  const { registry, repository } = endpoint;
  let credentials: Credentials | undefined;
  let basicHeader: string | undefined;
  const scope = `repository:${repository}:${options.actions}`;
  // Another step may have other credentials: what one was given is not lent to the next.
  const key = JSON.stringify([endpoint.host, scope, credentialKey(options.stepEnv)]);
  const sourcesFor = (signal: AbortSignal | undefined) => ({ stepEnv: options.stepEnv, env: context.env, signal });

  return {
    current() {
      const token = memory.tokens.get(key);
      if (token !== undefined && token.expiresAt > performance.now()) return `Bearer ${token.value}`;
      return basicHeader;
    },
    async answer(challenges, origin, signal) {
      memory.tokens.delete(key);
      const sources = sourcesFor(signal);
      credentials = fromUrl(endpoint) ?? (await credentialsFor(registry, repository, sources));
      const bearer = challenges.find(({ scheme }) => scheme === "bearer");
      if (bearer !== undefined) {
        if (credentials?.registryToken !== undefined) return `Bearer ${credentials.registryToken}`;
        const isKnownHost = (host: string): Promise<boolean> => isKnownTokenHost(host, sources);
        const token = await fetchToken({ challenge: bearer, origin, scope, credentials, isKnownHost, signal });
        memory.tokens.set(key, token);
        return `Bearer ${token.value}`;
      }
      const isBasic = challenges.some(({ scheme }) => scheme === "basic");
      if (!isBasic || credentials?.username === undefined || credentials.password === undefined) return undefined;
      basicHeader = basic(credentials.username, credentials.password);
      return basicHeader;
    },
    refused(status) {
      const having = credentials === undefined ? "without credentials" : `with those of ${credentials.source}`;
      return new TransferError(
        "AUTH_FAILED",
        `Cannot use "${registry}/${repository}": the registry answered ${status} ${having}`,
        {
          hint:
            credentials === undefined
              ? `Put credentials for "${registry}" into DOCKER_AUTH_CONFIG; the step builtin://docker/auth does it. A repository that does not exist may answer the same.`
              : "Check the credentials, and that the repository exists.",
        },
      );
    },
  };
}

function fromUrl({ authorization }: RegistryEndpoint): Credentials | undefined {
  const pair = authorization && Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString("utf8");
  if (!pair) return undefined;
  const colon = pair.indexOf(":");
  return { username: pair.slice(0, colon), password: pair.slice(colon + 1), source: "the mirror's URL" };
}

function credentialKey(env: Readonly<Record<string, string>>): (string | undefined)[] {
  return ["DOCKER_AUTH_CONFIG", "CI_REGISTRY", "CI_REGISTRY_USER", "CI_REGISTRY_PASSWORD"].map((name) => env[name]);
}

/** Failures of a TLS handshake with a server that does not speak TLS. */
const NO_TLS = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST",
  "EPROTO",
  "ECONNRESET",
  "UND_ERR_SOCKET",
]);

/** A registry on this machine speaks https or http: the first is tried first. Others are never asked without TLS. */
async function originOf(endpoint: RegistryEndpoint, memory: Known, signal: AbortSignal | undefined): Promise<string> {
  if (endpoint.origin !== undefined) return endpoint.origin;
  const found = memory.origins.get(endpoint.host);
  if (found !== undefined) return found;
  const origin = `https://${endpoint.host}`;
  const remote = { location: origin, url: origin, scheme: "https", authorization: undefined, isMirror: false } as const;
  let chosen = origin;
  try {
    const { response } = await request(remote, { url: `${origin}/v2/`, method: "HEAD", signal });
    await response.body?.cancel();
  } catch (error) {
    if (!NO_TLS.has(codeIn(error))) throw error;
    chosen = `http://${endpoint.host}`;
  }
  memory.origins.set(endpoint.host, chosen);
  return chosen;
}

function codeIn(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && NO_TLS.has(code)) return code;
  }
  return "";
}
