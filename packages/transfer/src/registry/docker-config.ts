import { messageOf } from "@steps/model";
import { TransferError } from "../error.ts";

/** The credentials for a registry. */
export interface Credentials {
  readonly username?: string;
  readonly password?: string;
  /** To be exchanged for a token (OAuth 2 refresh token). */
  readonly identityToken?: string;
  /** Sent as it is. */
  readonly registryToken?: string;
  /** The place where the credentials were found, for messages. */
  readonly source: string;
}

/** The part of Docker's `config.json` that is used. */
export interface DockerConfig {
  readonly auths: ReadonlyMap<string, Credentials>;
  /** Credential helper by registry. */
  readonly credHelpers: ReadonlyMap<string, string>;
  readonly credsStore: string | undefined;
}

const MAX_CONFIG_LENGTH = 1024 * 1024;

/**
 * Reads the text of a `config.json`. Its values are secrets, so no message repeats any of them.
 *
 * @throws {TransferError} AUTH_FAILED when it is no such file
 */
export function parseDockerConfig(text: string, source: string): DockerConfig {
  const refuse = (problem: string): TransferError =>
    new TransferError("AUTH_FAILED", `Cannot read ${source}: ${problem}`, {
      hint: 'It must look like {"auths": {"registry.example.com": {"auth": "…"}}}.',
    });
  if (text.length > MAX_CONFIG_LENGTH) throw refuse(`it is longer than ${MAX_CONFIG_LENGTH} characters`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    // The parser's sentence quotes what it read.
    throw refuse(/position \d+/.exec(messageOf(error))?.[0].replace(/^/, "it is no JSON at ") ?? "it is no JSON");
  }
  if (!isObject(parsed)) throw refuse("it is no JSON object");
  const auths = new Map<string, Credentials>();
  for (const [key, value] of Object.entries(isObject(parsed["auths"]) ? parsed["auths"] : {})) {
    const credentials = isObject(value) ? readCredentials(value, source) : undefined;
    if (credentials !== undefined) auths.set(normalizeKey(key), credentials);
  }
  const credHelpers = new Map<string, string>();
  for (const [key, value] of Object.entries(isObject(parsed["credHelpers"]) ? parsed["credHelpers"] : {})) {
    if (typeof value === "string") credHelpers.set(normalizeKey(key), value);
  }
  const store = parsed["credsStore"];
  return { auths, credHelpers, credsStore: typeof store === "string" && store !== "" ? store : undefined };
}

/** The credentials for a repository: those of the longest path that it is in, or of its registry. */
export function findCredentials(config: DockerConfig, registry: string, repository: string): Credentials | undefined {
  return lookup(config.auths, registry, repository);
}

/** The program that knows the credentials for a repository. */
export function findHelper(config: DockerConfig, registry: string, repository: string): string | undefined {
  return lookup(config.credHelpers, registry, repository) ?? config.credsStore;
}

function lookup<T>(table: ReadonlyMap<string, T>, registry: string, repository: string): T | undefined {
  const parts = [registry, ...repository.split("/")];
  for (let length = parts.length; length > 0; length -= 1) {
    const found = table.get(parts.slice(0, length).join("/"));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `https://index.docker.io/v1/` is Docker's own registry; others are written with a scheme and `/v2/` as well. */
function normalizeKey(key: string): string {
  const bare = key
    .trim()
    .replace(/^https?:\/\//i, "")
    .replace(/\/(?:v[12]\/?)?$/, "")
    .replace(/\/+$/, "");
  const [host = "", ...path] = bare.split("/");
  const name = host.toLowerCase();
  const isHub = name === "index.docker.io" || name === "registry-1.docker.io";
  return [isHub ? "docker.io" : name, ...path].join("/");
}

function readCredentials(value: Readonly<Record<string, unknown>>, source: string): Credentials | undefined {
  const text = (key: string): string | undefined => {
    const found = value[key];
    return typeof found === "string" && found !== "" ? found : undefined;
  };
  const identityToken = text("identitytoken");
  const registryToken = text("registrytoken");
  const pair = decodePair(text("auth"));
  const username = text("username") ?? pair?.username;
  const password = text("password") ?? pair?.password;
  if (
    identityToken === undefined &&
    registryToken === undefined &&
    (username === undefined || password === undefined)
  ) {
    return undefined;
  }
  return {
    source,
    username,
    password,
    identityToken,
    registryToken,
  };
}

function decodePair(auth: string | undefined): { username: string; password: string } | undefined {
  if (auth === undefined) return undefined;
  const text = Buffer.from(auth, "base64").toString("utf8").replaceAll("\0", "");
  const colon = text.indexOf(":");
  return colon === -1 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
