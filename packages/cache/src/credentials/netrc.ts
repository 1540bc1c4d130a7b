import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "@steps/transfer";
import type { CredentialTarget, FoundCredential } from "./credential.ts";

/** An entry of a `.netrc`; without `machine` it is the default one. */
interface NetrcEntry {
  readonly machine?: string;
  readonly login?: string;
  readonly password?: string;
}

const MAX_BYTES = 256 * 1024;
const KEYS = ["machine", "login", "password", "account"] as const;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * Looks for a server in the file that `NETRC` names, or in `~/.netrc`: by `HOST:PORT` first, then by its name alone. A `default`
 * entry is for any server, also for one that only a fetched file names, so it is never used.
 *
 * @returns the credentials, or a sentence that says why there are none
 */
export function findInNetrc(
  target: CredentialTarget,
  env: Readonly<Record<string, string | undefined>>,
): FoundCredential | { readonly nothing: string } {
  const place = netrcPlace(env);
  if (place === undefined) return { nothing: "HOME is not set, so there is no ~/.netrc" };
  const read = readSmallFile(place.path);
  if ("problem" in read) return { nothing: `${place.shown} cannot be read (${read.problem})` };
  if (read.text === undefined) return { nothing: `there is no ${place.shown}` };
  const entries = parseNetrc(read.text);
  const hostname = target.host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  for (const machine of [target.host, hostname]) {
    for (const entry of entries) {
      if (entry.machine?.toLowerCase() !== machine || entry.password === undefined) continue;
      if (target.user !== undefined && entry.login !== target.user) continue;
      if (entry.login !== undefined) return { source: place.shown, username: entry.login, password: entry.password };
    }
  }
  const hasDefault = entries.some(({ machine }) => machine === undefined);
  const rest = hasDefault ? ", and its default entry is not used" : "";
  return { nothing: `${place.shown} has no login and password for ${target.host}${rest}` };
}

/** The servers that the user's `.netrc` has a password for; `undefined` where there is none that can be read. */
export function serversInNetrc(
  env: Readonly<Record<string, string | undefined>>,
): { readonly shown: string; readonly servers: readonly string[] } | undefined {
  const place = netrcPlace(env);
  const read = place === undefined ? undefined : readSmallFile(place.path);
  if (place === undefined || read === undefined || "problem" in read || read.text === undefined) return undefined;
  const named = parseNetrc(read.text).flatMap(({ machine, password }) =>
    password === undefined ? [] : (machine ?? []),
  );
  return { shown: place.shown, servers: [...new Set(named)] };
}

/** The path of the user's `.netrc`, and how messages call it; `undefined` where nothing says where the home is. */
function netrcPlace(
  env: Readonly<Record<string, string | undefined>>,
): { readonly path: string; readonly shown: string } | undefined {
  const { NETRC: named = "", HOME: home = "" } = env;
  if (named !== "") return { path: named, shown: named };
  return home === "" ? undefined : { path: join(home, ".netrc"), shown: "~/.netrc" };
}

/** The entries of a `.netrc`, as curl reads it: words and quoted words, lines of comment, macros that are skipped. */
export function parseNetrc(text: string): readonly NetrcEntry[] {
  const entries: { machine?: string; login?: string; password?: string }[] = [];
  let key: (typeof KEYS)[number] | undefined;
  let isMacro = false;
  for (const line of text.split(/\r?\n/)) {
    if (isMacro) {
      isMacro = line.trim() !== "";
      continue;
    }
    if (/^\s*#/.test(line)) continue;
    for (const word of wordsOf(line)) {
      if (key === "machine") entries.push({ machine: word });
      else if (key === "login" || key === "password") Object.assign(entries.at(-1) ?? {}, { [key]: word });
      if (key !== undefined) {
        key = undefined;
        continue;
      }
      if (word === "default") entries.push({});
      isMacro = word === "macdef";
      if (isMacro) break;
      key = KEYS.find((one) => one === word);
    }
  }
  return entries;
}

function wordsOf(line: string): string[] {
  return Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"|\S+/g), ([word, quoted]) =>
    quoted === undefined ? word : quoted.replaceAll(/\\(.)/g, (_, char: string) => ESCAPES[char] ?? char),
  );
}

/** A pipe or a device in its place must not make anybody wait. */
function readSmallFile(path: string): { readonly text: string | undefined } | { readonly problem: string } {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? { text: undefined } : { problem: code ?? "it cannot be opened" };
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { problem: "it is no file" };
    if (stats.size > MAX_BYTES) return { problem: `it is larger than ${MAX_BYTES} bytes` };
    return { text: readFileSync(descriptor, "utf8") };
  } catch (error) {
    return { problem: systemCode(error) ?? "it cannot be read" };
  } finally {
    closeSync(descriptor);
  }
}
