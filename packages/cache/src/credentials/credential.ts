import type { Remote } from "@steps/transfer";

// Anything shorter would hide parts of words.
const SHORTEST_HIDDEN = 4;

/** The server, and the repository on it, that credentials are looked for. All its texts are free of control characters. */
export interface CredentialTarget {
  /** In lower case, with the port unless it is the usual one. */
  readonly host: string;
  /** Without a slash before it, decoded. */
  readonly path: string;
  /** The user whose password is looked for, if the URL names one. */
  readonly user: string | undefined;
}

/** A name and a password, and the place that gave them, as messages call it. */
export interface FoundCredential {
  readonly source: string;
  readonly username: string;
  readonly password: string;
}

/**
 * Says what credentials may be looked for: those of a server that is asked over https and for which the URL has no password.
 * `undefined` for everything else. A text of two lines would be two answers to a helper.
 */
export function credentialTarget({ url, scheme, authorization, user }: Remote): CredentialTarget | undefined {
  if (scheme !== "https" || (authorization !== undefined && user === undefined)) return undefined;
  const { host, pathname } = new URL(url);
  const target = { host, path: decoded(pathname.slice(1).replace(/\/+$/, "")), user };
  return host === "" || Object.values(target).some((text) => text !== undefined && !isOneLine(text))
    ? undefined
    : target;
}

/** Whether a text has no control character. */
export function isOneLine(text: string): boolean {
  return !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A percent sign that begins no escape.
    return path;
  }
}

/** The value of a header `Authorization`; `undefined` for a name or password that the header cannot carry. */
export function basicAuthorization({ username, password }: FoundCredential): string | undefined {
  if (username.includes(":") || !isOneLine(username) || !isOneLine(password)) return undefined;
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** A text without the credentials of a header: a server may answer with what it was sent. */
export function withoutCredentials(text: string, authorization: string | undefined): string {
  const encoded = authorization?.replace(/^Basic /, "") ?? "";
  const password = Buffer.from(encoded, "base64")
    .toString()
    .replace(/^[^:]*:/, "");
  return [encoded, password]
    .filter(({ length }) => length >= SHORTEST_HIDDEN)
    .reduce((rest, secret) => rest.replaceAll(secret, "[MASKED]"), text);
}
