import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { decodeBase64Url } from "../base64url.ts";
import { decodeRouting, encodeRouting, type Routing } from "../routing.ts";
import { TokenError } from "../token-error.ts";

const RANDOM_BYTES = 16;
const MAX_ROUTING_BYTES = 159;
/** The longest payload is 300 characters, and a prefix has at most 20. */
const TOKEN =
  /^(?<prefix>[0-9A-Za-z_-]{0,19}-)(?<payload>[0-9A-Za-z_-]{27,300})\.01\.(?<length>[0-9a-z]{2})(?<crc>[0-9a-z]{7})$/;
const MAX_TOKEN = 360;

/** A token that says to which pod it belongs, in the parts that its text has. */
export interface RoutableToken {
  /** The text before the payload with its dash, such as `glrt-`. */
  readonly prefix: string;
  readonly routing: Routing;
}

/** The prefix, the routing and the source of randomness of a new token. */
export interface RoutableTokenOptions {
  /** `glrt-` unless given: GitLab's runner verifies a token with that prefix, and registers with any other. */
  readonly prefix?: string | undefined;
  readonly routing: Routing & { readonly pod: number };
  /** Exactly 16 bytes; from the system's generator unless given. */
  readonly random?: Uint8Array | undefined;
}

/**
 * Makes a token of a runner in version 1 of GitLab's routable format: prefix, base64url of 16 random bytes, the lines of the
 * routing and the number of their bytes, then `.01.`, the length of that text in base 36 and the CRC-32 of everything before it.
 * GitLab's own router and the scanners of secrets recognise it.
 *
 * @throws {TokenError} `TOKEN_INVALID` when a number of the routing or the prefix cannot be written.
 */
export function mintRoutableToken({ prefix = "glrt-", routing, random }: RoutableTokenOptions): string {
  if (!/^[0-9A-Za-z_-]{0,19}-$/.test(prefix)) {
    throw new TokenError(
      "TOKEN_INVALID",
      "The prefix of a token is at most 20 letters, digits, _ and -, and ends with -",
    );
  }
  const lines = Buffer.from(
    encodeRouting(routing)
      .map(([letter, value]) => `${letter}:${value}`)
      .join("\n"),
  );
  const noise = random ?? randomBytes(RANDOM_BYTES);
  if (noise.length !== RANDOM_BYTES || lines.length > MAX_ROUTING_BYTES) {
    throw new TokenError("TOKEN_INVALID", `A token has ${RANDOM_BYTES} random bytes, not ${noise.length}`);
  }
  const payload = Buffer.concat([noise, lines, Buffer.of(lines.length)]).toString("base64url");
  const checked = `${prefix}${payload}.01.${payload.length.toString(36).padStart(2, "0")}`;
  return checked + checksum(checked);
}

/**
 * Reads a token in version 1 of GitLab's routable format, with any prefix; undefined for every other text. The text has to be the
 * one spelling that {@link mintRoutableToken} would write, but for letters of the routing that are not known here. A result says
 * nothing about whether the token exists.
 */
export function parseRoutableToken(token: string): RoutableToken | undefined {
  if (token.length > MAX_TOKEN) return undefined;
  const { prefix, payload, length, crc } = TOKEN.exec(token)?.groups ?? {};
  if (prefix === undefined || payload === undefined || length === undefined || crc === undefined) return undefined;
  // A prefix may hold dashes, and so may the payload: the length says where the payload begins.
  const size = Number.parseInt(length, 36);
  const text = prefix + payload;
  const start = text.length - size;
  if (start < 1 || start > 20 || text[start - 1] !== "-") return undefined;
  if (checksum(token.slice(0, -crc.length)) !== crc) return undefined;
  const routing = readPayload(text.slice(start));
  return routing === undefined ? undefined : { prefix: text.slice(0, start), routing };
}

function readPayload(payload: string): Routing | undefined {
  const bytes = decodeBase64Url(payload);
  const size = bytes?.at(-1);
  if (bytes === undefined || size === undefined || bytes.length !== RANDOM_BYTES + size + 1) return undefined;
  const lines = bytes.subarray(RANDOM_BYTES, -1).toString("latin1").split("\n");
  const entries = lines.map((line) => line.split(":"));
  if (entries.some((entry) => entry.length !== 2)) return undefined;
  return decodeRouting(entries as [string, string][]);
}

function checksum(text: string): string {
  return crc32(text).toString(36).padStart(7, "0");
}
