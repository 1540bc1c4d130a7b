import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { codeOf } from "../connect-error.ts";
import { DialError } from "../dial-error.ts";

/** How to trust a Docker daemon and to be trusted by it, in PEM. */
export interface DockerTls {
  /** Authorities to trust instead of those of the system. */
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name in the daemon's certificate, when it is not that of the address. */
  readonly serverName?: string;
  /** Take any certificate. Only for a daemon behind a tunnel that is safe by itself. */
  readonly insecure?: boolean;
}

/** The address of a Docker daemon. */
export interface DockerHostOptions {
  /** `unix:///PATH`, `tcp://HOST:PORT`, `http://…` or `https://…`; `DOCKER_HOST` or the local daemon by default. */
  readonly host?: string;
  /** Makes `tcp://` TLS. By default `DOCKER_TLS_VERIFY` or `DOCKER_TLS` say so, with the files in `DOCKER_CERT_PATH`. */
  readonly tls?: DockerTls;
  /** The variables above and `HOME`; those of this process by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How long the daemon may take to answer a request; 10 s by default. */
  readonly timeoutMs?: number;
}

/** An address in the form that `node:http` and `node:https` take. */
export interface DockerHost {
  /** The name of the host in messages. */
  readonly name: string;
  readonly isTls: boolean;
  /** For the Host header, and a path below which the API is. */
  readonly prefix: string;
  readonly connection: Readonly<Record<string, unknown>>;
}

const DEFAULT_HOST = "unix:///var/run/docker.sock";
const ELSEWHERE: Readonly<Record<string, string>> = {
  "ssh:": "Dial the host with SSH and run 'docker exec -i' there, or forward the daemon's socket to a local one",
  "npipe:": "Windows pipes are not supported, expose the daemon on tcp://",
  "fd:": "That is an address to listen at, not to dial",
};

/** Reads the address of a daemon as the `docker` command does. Rejects with `ADDRESS_INVALID`, or `NOT_FOUND` for a certificate. */
export async function readDockerHost(options: DockerHostOptions): Promise<DockerHost> {
  const env = options.env ?? process.env;
  const text = options.host ?? (env["DOCKER_HOST"] || DEFAULT_HOST);
  const url = URL.parse(text);
  if (url === null || !/^(unix|tcp|https?|ssh|npipe|fd):$/.test(url.protocol)) {
    const hint = "Use unix:///PATH, tcp://HOST:PORT, http://HOST:PORT or https://HOST:PORT";
    throw new DialError("ADDRESS_INVALID", `'${shown(text)}' is not the address of a Docker daemon`, { hint });
  }
  const hint = ELSEWHERE[url.protocol];
  if (hint !== undefined) {
    throw new DialError("ADDRESS_INVALID", `Cannot dial a Docker daemon at '${shown(text)}'`, { hint });
  }
  if (url.protocol === "unix:") return unixHost(url, text);
  const tls = url.protocol === "http:" ? undefined : (options.tls ?? (await tlsOf(env)));
  return await tcpHost(url, tls);
}

function unixHost(url: URL, text: string): DockerHost {
  const socketPath = decodeURIComponent(url.pathname);
  if (url.host !== "" || !socketPath.startsWith("/")) {
    const hint = "A socket is named with three slashes: unix:///var/run/docker.sock";
    throw new DialError("ADDRESS_INVALID", `'${text}' has no absolute path`, { hint });
  }
  return { name: `unix://${socketPath}`, isTls: false, prefix: "", connection: { socketPath } };
}

function tcpHost(url: URL, tls: DockerTls | undefined): DockerHost {
  const isTls = tls !== undefined || url.protocol === "https:";
  // URL drops the default port of http and https: 80 and 443, which is what they mean.
  const implied = url.protocol === "tcp:" ? (isTls ? 2376 : 2375) : isTls ? 443 : 80;
  const port = url.port === "" ? implied : Number(url.port);
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1") || "127.0.0.1";
  const { serverName, insecure, ...files } = tls ?? {};
  const trust = {
    ...files,
    ...(serverName !== undefined && { servername: serverName }),
    rejectUnauthorized: insecure !== true,
  };
  return {
    name: `${url.protocol}//${url.hostname}:${port}`,
    isTls,
    prefix: url.pathname.replace(/\/+$/, ""),
    connection: { hostname, port, ...(isTls && trust) },
  };
}

async function tlsOf(env: Readonly<Record<string, string | undefined>>): Promise<DockerTls | undefined> {
  const verify = (env["DOCKER_TLS_VERIFY"] ?? "") !== "";
  if (!verify && (env["DOCKER_TLS"] ?? "") === "") return undefined;
  const folder = env["DOCKER_CERT_PATH"] || join(env["HOME"] || homedir(), ".docker");
  const [ca, cert, key] = await Promise.all(
    ["ca.pem", "cert.pem", "key.pem"].map((name) => readPem(join(folder, name))),
  );
  if (verify && ca === undefined) {
    const hint = "DOCKER_TLS_VERIFY wants ca.pem, and for most daemons cert.pem and key.pem, in DOCKER_CERT_PATH";
    throw new DialError("NOT_FOUND", `There is no '${join(folder, "ca.pem")}'`, { hint });
  }
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), insecure: !verify };
}

async function readPem(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new DialError("DENIED", `Cannot read '${path}'`, { cause });
  }
}

/** Returns an address without the part that may be a password. */
function shown(address: string): string {
  return address.replace(/\/\/[^/]*@/, "//…@");
}
