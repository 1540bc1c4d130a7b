import type { JobPayload } from "@steps/runner-api/job";

/** Who asks the registries for which images. */
export interface PullCredential {
  /** The registry with the start of a path, if it is for a part of it alone: `registry.example.com/group`. */
  readonly path: string;
  readonly username: string;
  readonly password: string;
}

/**
 * The docker configuration for the pulls of a job: the registries of its payload, and those of its variable
 * `DOCKER_AUTH_CONFIG`, which count more, as GitLab's runner has it. `undefined` when there are none. What is no JSON in the
 * variable is told to `warn`.
 */
export function dockerConfigOf(
  { credentials }: Pick<JobPayload, "credentials">,
  variable: string | undefined,
  warn: (text: string) => void,
): string | undefined {
  const auths: Record<string, unknown> = {};
  for (const { type, url, username, password } of credentials) {
    if (type !== "registry" || url === "") continue;
    auths[url] = { username, password, auth: Buffer.from(`${username}:${password}`).toString("base64") };
  }
  if (variable !== undefined && variable !== "") Object.assign(auths, readAuths(variable, warn));
  return Object.keys(auths).length === 0 ? undefined : JSON.stringify({ auths });
}

function readAuths(text: string, warn: (text: string) => void): object {
  try {
    const config = JSON.parse(text) as { readonly auths?: unknown } | null;
    const auths = config?.auths;
    if (typeof auths === "object" && auths !== null && !Array.isArray(auths)) return auths;
  } catch {
    // Said below.
  }
  warn("DOCKER_AUTH_CONFIG has no JSON with auths, and is not used for pulls");
  return {};
}

/** The credentials in a docker configuration, as `dockerConfigOf()` gives it. */
export function pullCredentials(config: string | undefined): readonly PullCredential[] {
  if (config === undefined) return [];
  const { auths } = JSON.parse(config) as { readonly auths: object };
  return Object.entries(auths).flatMap(([key, auth]) => {
    const pair = pairOf(auth);
    return pair === undefined ? [] : [{ path: pathOf(key), ...pair }];
  });
}

/** The credentials for an image: those with the longest path that it is in, and of two with one path the last. */
export function credentialFor(image: string, all: readonly PullCredential[]): PullCredential | undefined {
  const name = pathOfImage(image);
  const fitting = all.filter(({ path }) => name === path || name.startsWith(`${path}/`));
  return fitting.toSorted((one, other) => one.path.length - other.path.length).at(-1);
}

function pairOf(value: unknown): Pick<PullCredential, "username" | "password"> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { auth, username, password } = value as Readonly<Record<string, unknown>>;
  if (typeof auth === "string" && auth !== "") {
    const pair = Buffer.from(auth, "base64").toString();
    const colon = pair.indexOf(":");
    return colon <= 0 ? undefined : { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
  }
  return typeof username === "string" && typeof password === "string" ? { username, password } : undefined;
}

const DOCKER_HUB: ReadonlySet<string> = new Set(["index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"]);

function pathOf(address: string): string {
  const bare = address
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .replace(/\/(?:v[12]\/?)?$/, "");
  const [host = "", ...rest] = bare.split("/");
  return [DOCKER_HUB.has(host) ? "docker.io" : host, ...rest].join("/");
}

function pathOfImage(image: string): string {
  const bare = image.split("@", 1)[0]?.replace(/:[^:/]*$/, "") ?? image;
  const [first = "", ...rest] = bare.split("/");
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  return pathOf(isHost ? bare : `docker.io/${rest.length === 0 ? "library/" : ""}${bare}`);
}
