import type { Value } from "@steps/model";
import { BuiltinError } from "./builtin-error.ts";

/**
 * A `DOCKER_AUTH_CONFIG` with the credentials for one registry added to what is in it, or put in their place.
 *
 * @throws {BuiltinError} BUILTIN_FAILED; its message repeats no part of the text
 */
export function mergeDockerAuth(
  existing: string | undefined,
  entry: { readonly registry: string; readonly username: string; readonly password: string },
): string {
  const { username, password } = entry;
  const registry = entry.registry.trim().replace(/\/+$/, "");
  if (registry === "" || /[\s@]/.test(registry)) throw failed("the registry is malformed");
  if (username === "" || username.includes(":")) throw failed("the user name is empty or has a colon");
  if (password === "") throw failed("the password is empty");
  const config = readConfig(existing);
  const auths = config["auths"] ?? {};
  if (!isObject(auths)) throw failed("the auths of DOCKER_AUTH_CONFIG are no object");
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  const others = Object.entries(auths).filter(([key]) => key !== registry);
  return JSON.stringify({ ...config, auths: Object.fromEntries([...others, [registry, { auth }]]) });
}

function readConfig(text: string | undefined): Readonly<Record<string, Value>> {
  if (text === undefined || text.trim() === "") return {};
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    // The parser's sentence would quote the secret.
    throw failed("DOCKER_AUTH_CONFIG is no JSON");
  }
  if (isObject(config)) return config;
  throw failed("DOCKER_AUTH_CONFIG is no JSON object");
}

function isObject(value: unknown): value is Readonly<Record<string, Value>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function failed(problem: string): BuiltinError {
  return new BuiltinError("BUILTIN_FAILED", `Cannot add credentials: ${problem}`);
}
