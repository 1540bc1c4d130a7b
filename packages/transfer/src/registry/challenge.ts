/** One way to authenticate that a server offers in `WWW-Authenticate` (RFC 9110, 11.6.1). */
export interface Challenge {
  /** In lower case: `basic`, `bearer`. */
  readonly scheme: string;
  /** Names in lower case. */
  readonly parameters: Readonly<Record<string, string>>;
}

const MAX_HEADER_LENGTH = 16 * 1024;
const ITEM = /[\s,]*([!#$%&'*+.^_`|~0-9a-zA-Z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/y;

/** Reads the header; what cannot be read ends it. */
export function parseChallenges(header: string | null): Challenge[] {
  const text = (header ?? "").slice(0, MAX_HEADER_LENGTH);
  const found: { scheme: string; parameters: Record<string, string> }[] = [];
  ITEM.lastIndex = 0;
  for (let item = ITEM.exec(text); item !== null; item = ITEM.exec(text)) {
    const [, name = "", quoted, token] = item;
    const value = quoted?.replaceAll(/\\(.)/g, "$1") ?? token;
    const current = found.at(-1);
    if (value === undefined)
      found.push({ scheme: name.toLowerCase(), parameters: Object.create(null) as Record<string, string> });
    else if (current !== undefined) current.parameters[name.toLowerCase()] ??= value;
  }
  return found;
}
