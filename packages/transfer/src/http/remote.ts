import { publicUrl } from "@steps/model/reference";
import { componentLocation } from "@steps/model/kinds";
import { TransferError } from "../error.ts";

/** The server, or the folder, that a component is fetched from. */
export interface Remote {
  /**
   * The URL that the author wrote, without credentials and with its host in lower case. It is the name of the
   * component.
   */
  readonly location: string;
  /** The URL that is really fetched; a mirror may stand in. It has no password, and a user name only for ssh. */
  readonly url: string;
  readonly scheme: "http" | "https" | "ssh" | "file";
  /** Value of an `Authorization` header, for the host of `url` only. */
  readonly authorization: string | undefined;
  /** The user that a URL of HTTP names without a password. */
  readonly user?: string | undefined;
  /** Whether `url` is a mirror's. */
  readonly isMirror: boolean;
}

const SCHEMES: ReadonlySet<string> = new Set(["http", "https", "ssh", "file"]);

/**
 * Reads a URL with the WHATWG rules and takes its credentials off. They go to the host they were written for: a mirror
 * on another host gets its own or none.
 *
 * @throws {TransferError} REFERENCE_INVALID
 */
export function openRemote(text: string, mirrors: Readonly<Record<string, string>>): Remote {
  const original = parse(text);
  const location = componentLocation(original.href);
  const mirror = replacePrefix(location, mirrors);
  const actual = mirror === undefined ? original : parse(mirror);
  if (mirror !== undefined && actual.username === "" && actual.origin === original.origin) {
    actual.username = original.username;
    actual.password = original.password;
  }
  const scheme = actual.protocol.slice(0, -1) as Remote["scheme"];
  const url = new URL(actual);
  url.password = "";
  if (scheme !== "ssh") url.username = "";
  return {
    location,
    url: url.href,
    scheme,
    authorization: authorizationOf(actual),
    user: userOf(actual),
    isMirror: mirror !== undefined,
  };
}

function parse(text: string): URL {
  const bare = text.replace(/^git\+/, "");
  const invalid = (problem: string): TransferError =>
    new TransferError("REFERENCE_INVALID", `Cannot use URL "${publicUrl(bare)}": ${problem}`);
  if (/[\u0000-\u0020\u007f\\]|%0[ad0]/i.test(bare)) throw invalid("it holds a control character");
  if (!URL.canParse(bare)) throw invalid("it is no URL");
  const url = new URL(bare);
  const scheme = url.protocol.slice(0, -1);
  if (!SCHEMES.has(scheme)) throw invalid(`its scheme is "${scheme}"`);
  if (scheme === "file" ? url.host !== "" : url.hostname === "") throw invalid("its host is not usable");
  if (url.hostname.startsWith("-") || url.username.startsWith("-") || url.pathname.startsWith("/-")) {
    throw invalid("a part of it looks like an option");
  }
  url.hash = "";
  return url;
}

/**
 * Returns the location with its longest matching prefix replaced by that of a mirror; undefined if no prefix matches.
 */
export function replacePrefix(location: string, mirrors: Readonly<Record<string, string>>): string | undefined {
  const prefixes = Object.keys(mirrors).filter((prefix) => location.startsWith(prefix));
  const longest = prefixes.toSorted((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : `${mirrors[longest]}${location.slice(longest.length)}`;
}

function userOf({ protocol, username, password }: URL): string | undefined {
  const isHttp = protocol === "http:" || protocol === "https:";
  return isHttp && username !== "" && password === "" ? decodeURIComponent(username) : undefined;
}

function authorizationOf(url: URL): string | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  if (url.username === "" && url.password === "") return undefined;
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}
