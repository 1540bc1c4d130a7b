/** The server that other projects are fetched from. */
export interface IncludeServer {
  /** The host of its pages, with the port unless it is the usual one, in lower case. */
  readonly host: string;
  /** The path of the project that the pipeline is of: `group/name`. Absent when only the server is known. */
  readonly project?: string | undefined;
  /** The URL of a project's repository but for the path, which follows: `https://host/`, `ssh://git@host/`. May hold credentials. */
  readonly gitBase: string;
}

/**
 * The URL before the path of a project, from that of one of its repositories: of `git@host:group/name.git` it is `ssh://git@host/`.
 * `undefined` for a URL that is none of a server.
 *
 * @param path - The path of the project, which the URL ends in.
 */
export function gitBaseOf(url: string, path: string): string | undefined {
  const short = /^((?:[^/@\s]+@)?[^/:@\s]+):([^/\s][^\s]*)$/.exec(url);
  const long = short !== null && !url.includes("://") ? `ssh://${short[1]}/${short[2]}` : url;
  const bare = long
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
  if (!/^(?:https?|ssh|file):\/\//i.test(bare) || !bare.endsWith(`/${path}`)) return undefined;
  return bare.slice(0, -path.length);
}

/** The same URL with credentials, for a server that is asked over HTTP without any. */
export function withCredentials(base: string, user: string, password: string): string {
  if (!/^https?:\/\//i.test(base)) return base;
  const url = new URL(base);
  if (url.username !== "" || url.password !== "") return base;
  url.username = encodeURIComponent(user);
  url.password = encodeURIComponent(password);
  return url.href;
}
