import { publicUrl } from "@steps/model/reference";

/** The place of a repository on a server. */
export interface Remote {
  readonly host: string;
  /** `https` unless the URL says `http`: of an address of SSH, what the server's pages most likely have. */
  readonly protocol: "http" | "https";
  /** The port of the pages. */
  readonly port: number;
  /** The path of the project: `group/subgroup/name`. */
  readonly path: string;
  /** The URL that git fetches from, without user and password. */
  readonly url: string;
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/**
 * Reads the URL of a remote of git: `https://host/group/name.git`, `ssh://git@host:22/group/name.git`, `git@host:group/name.git`.
 * `undefined` when it is none of a server, such as the path of a folder.
 */
export function readRemote(url: string): Remote | undefined {
  const short = /^(?:[^/@\s]+@)?([^/:@\s]+):([^/\s][^\s]*)$/.exec(url);
  if (short !== null && !url.includes("://")) {
    return create({ host: short[1] ?? "", protocol: "https", port: "", path: short[2] ?? "", url });
  }
  const parts = /^(https?|ssh|git):\/\/(?:[^/@\s]*@)?([^/:@\s]+)(?::(\d{1,5}))?\/(\S+)$/i.exec(url);
  if (parts === null) return undefined;
  const scheme = (parts[1] ?? "").toLowerCase();
  const isWeb = scheme === "http" || scheme === "https";
  return create({
    host: parts[2] ?? "",
    protocol: scheme === "http" ? "http" : "https",
    port: isWeb ? (parts[3] ?? "") : "",
    path: parts[4] ?? "",
    url,
  });
}

interface Parts {
  readonly host: string;
  readonly protocol: "http" | "https";
  readonly port: string;
  readonly path: string;
  readonly url: string;
}

function create({ host, protocol, port, path, url }: Parts): Remote | undefined {
  const names = path
    .replace(/[?#].*$/, "")
    .split("/")
    .filter((name) => name !== "");
  const last = names.pop()?.replace(/\.git$/, "") ?? "";
  if (names.length === 0 || last === "") return undefined;
  return {
    host: host.toLowerCase(),
    protocol,
    port: port === "" ? DEFAULT_PORTS[protocol] : Number(port),
    path: [...names, last].join("/"),
    url: publicUrl(url),
  };
}

/** The host of a server's pages, with the port unless it is the usual one: `gitlab.example.com:8443`. */
export function hostWithPort({ host, protocol, port }: Remote): string {
  return port === DEFAULT_PORTS[protocol] ? host : `${host}:${port}`;
}
