import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** One line of a `known_hosts` file (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"). */
export interface KnownHost {
  readonly file: string;
  /** The number of the line, from 1. */
  readonly line: number;
  readonly marker: "none" | "revoked" | "cert-authority";
  /** The first field: patterns, or one hashed name. */
  readonly hosts: string;
  /** `ssh-ed25519` and so on, as the key itself says. */
  readonly keyType: string;
  /** The key as it goes over the wire. */
  readonly key: Buffer;
}

/** The verdict of the known-hosts files on a host's key. `place` is the line that decided, as `FILE:LINE`. */
export type HostKeyVerdict =
  | { readonly status: "known" }
  | { readonly status: "unknown" }
  | { readonly status: "changed" | "revoked" | "authority"; readonly place: string };

// Enough for a farm's; a line is a name of at most some hundred bytes and a key.
const MAX_LINES = 200_000;
const MAX_LINE_CHARACTERS = 32 * 1024;

/** Reads the text of a `known_hosts` file; lines that make no sense are passed over, as ssh does. */
export function parseKnownHosts(text: string, file: string): KnownHost[] {
  const known: KnownHost[] = [];
  for (const [at, raw] of text.split("\n", MAX_LINES).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#") || line.length > MAX_LINE_CHARACTERS) continue;
    const fields = line.split(/[ \t]+/, 4);
    const marker = markerOf(fields[0] as string);
    if (marker === undefined) continue;
    if (marker !== "none") fields.shift();
    const [hosts, , base64] = fields;
    if (hosts === undefined || base64 === undefined) continue;
    const key = Buffer.from(base64, "base64");
    const keyType = keyTypeOf(key);
    if (keyType !== undefined) known.push({ file, line: at + 1, marker, hosts, keyType, key });
  }
  return known;
}

function markerOf(field: string): KnownHost["marker"] | undefined {
  if (field === "@revoked") return "revoked";
  if (field === "@cert-authority") return "cert-authority";
  return field.startsWith("@") ? undefined : "none";
}

/** The name of a key's type, its first string; nothing if these bytes are no key. */
export function keyTypeOf(key: Buffer): string | undefined {
  const length = key.length < 4 ? 0 : key.readUInt32BE(0);
  return length === 0 || length > 64 || key.length < 4 + length ? undefined : key.toString("latin1", 4, 4 + length);
}

/** Returns a key's fingerprint as ssh prints it: `SHA256:` and the base64 of the key's digest without padding. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

/** The name under which a host is looked up: `host`, or `[host]:port` where the port is not 22. */
export function knownHostName(host: string, port: number): string {
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}

/**
 * Judges a key for a host by the lines of the files; the name comes from `knownHostName()`. If the host has other keys
 * but not this one the verdict is `changed`, whatever their types, because the server chooses which of its keys it
 * shows.
 */
export function checkHostKey(known: readonly KnownHost[], name: string, key: Buffer): HostKeyVerdict {
  const lines = known.filter((line) => matchesHost(line.hosts, name));
  const isSame = (line: KnownHost): boolean => line.key.equals(key);
  const revoked = lines.find((line) => line.marker === "revoked" && isSame(line));
  if (revoked !== undefined) return { status: "revoked", place: placeOf(revoked) };
  const plain = lines.filter((line) => line.marker === "none");
  if (plain.some(isSame)) return { status: "known" };
  const other = plain.find((line) => line.keyType === keyTypeOf(key)) ?? plain[0];
  if (other !== undefined) return { status: "changed", place: placeOf(other) };
  const authority = lines.find((line) => line.marker === "cert-authority");
  return authority === undefined ? { status: "unknown" } : { status: "authority", place: placeOf(authority) };
}

/** The types of keys that are known of a host: they are asked for first, so that the server shows one that can be checked. */
export function knownKeyTypes(known: readonly KnownHost[], name: string): ReadonlySet<string> {
  const lines = known.filter((line) => line.marker === "none" && matchesHost(line.hosts, name));
  return new Set(lines.map((line) => line.keyType));
}

function placeOf(line: KnownHost): string {
  return `${line.file}:${line.line}`;
}

/** Patterns with `*` and `?`, a `!` in front denies; or `|1|SALT|HASH`, an HMAC-SHA1 of the name. */
function matchesHost(hosts: string, name: string): boolean {
  if (hosts.startsWith("|")) return matchesHash(hosts, name);
  let isMatch = false;
  for (const pattern of hosts.toLowerCase().split(",")) {
    const isDenied = pattern.startsWith("!");
    if (!matchesPattern(isDenied ? pattern.slice(1) : pattern, name)) continue;
    if (isDenied) return false;
    isMatch = true;
  }
  return isMatch;
}

function matchesHash(hosts: string, name: string): boolean {
  const [, version, salt, hash] = hosts.split("|");
  if (version !== "1" || salt === undefined || hash === undefined) return false;
  const expected = Buffer.from(hash, "base64");
  const actual = createHmac("sha1", Buffer.from(salt, "base64")).update(name).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/**
 * Matches a name. Only the last star is tried again, so the time is at most the product of both lengths, whatever the
 * pattern.
 */
function matchesPattern(pattern: string, name: string): boolean {
  let p = 0;
  let star = -1;
  let from = 0;
  for (let n = 0; n < name.length;) {
    if (pattern[p] === "*") {
      star = p++;
      from = n;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === name[n])) {
      p += 1;
      n += 1;
    } else if (star !== -1) {
      p = star + 1;
      n = ++from;
    } else return false;
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}
