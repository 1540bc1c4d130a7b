import { publicUrl } from "./public-url.ts";
import type { ReferenceProblem } from "./reference-problem.ts";

/** The name of an image: its registry, its repository there, and a tag or a digest. */
export interface ImageName {
  /** The host in lower case, with a port if one was written. */
  readonly registry: string;
  readonly repository: string;
  /** A tag, or a digest like `sha256:…`. */
  readonly tag: string;
}

/** The registry of an image whose text names none. */
export const DEFAULT_REGISTRY = "registry.gitlab.com";

/** Digits of the digests that an image may be named by. */
const DIGEST_DIGITS: Readonly<Record<string, number>> = { sha256: 64, sha512: 128 };

const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const DIGEST_LIKE = /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-f]{32,}$/i;
/** The greatest length of registry and repository together; most registries accept no more. */
const MAX_NAME_LENGTH = 255;

/** Tells whether a text looks like `algorithm:hex`, which no git revision can (conformance section 20 C8). */
export function isDigestLike(text: string): boolean {
  return DIGEST_LIKE.test(text);
}

/** Whether a tag is a digest, which always names the same image. */
export function isDigest(tag: string): boolean {
  return tag.includes(":");
}

/**
 * Reads `[registry/]repository[:tag|@digest]`. As everywhere, the first part is the registry when it has a point or a
 * port or is `localhost`; `hasRegistry` says that it is one in any case, as in `oci://`.
 *
 * @see the OCI distribution specification, "Pulling manifests"
 */
export function parseImageName(
  text: string,
  options: { readonly hasRegistry?: boolean } = {},
): ImageName | ReferenceProblem {
  const at = text.lastIndexOf("@");
  if (at !== -1 && !isDigestLike(text.slice(at + 1))) return malformedAt(text, at);
  const digest = at === -1 ? undefined : text.slice(at + 1).toLowerCase();
  const named = at === -1 ? text : text.slice(0, at);
  if (named.includes("@")) return malformedAt(named, named.indexOf("@"));
  const slash = named.indexOf("/");
  const first = slash === -1 ? "" : named.slice(0, slash);
  const isRegistry = slash !== -1 && (options.hasRegistry === true || /[.:]|^localhost$/i.test(first));
  const registry = (isRegistry ? first : DEFAULT_REGISTRY).toLowerCase();
  const rest = isRegistry ? named.slice(slash + 1) : named;
  const colon = rest.indexOf(":", rest.lastIndexOf("/") + 1);
  const long = /^([^@:]*):([a-z0-9+._-]+:[0-9a-f]{32,})$/i.exec(rest);
  const repository = long?.[1] ?? (colon === -1 ? rest : rest.slice(0, colon));
  // A tag beside a digest only says what the digest once was.
  const tag = digest ?? long?.[2]?.toLowerCase() ?? (colon === -1 ? "latest" : rest.slice(colon + 1));
  const name = { registry, repository, tag };
  const tagProblem = digest !== undefined && colon !== -1 ? tagProblemOf(rest.slice(colon + 1)) : undefined;
  return imageNameProblem(name) ?? tagProblem ?? name;
}

// The text before the `@` may be a password, so it is not quoted.
function malformedAt(text: string, at: number): ReferenceProblem {
  const slash = text.indexOf("/");
  if (slash === -1 || at < slash) {
    return {
      message: "The OCI reference holds a user name",
      hint: "Credentials of a registry go into DOCKER_AUTH_CONFIG.",
    };
  }
  return {
    message: `The OCI reference has a malformed digest: "${publicUrl(text.slice(at + 1)).slice(0, 80)}"`,
    hint: "A digest is sha256: and 64 hex digits; a tag follows a colon.",
  };
}

/**
 * Returns the problem with the name of an image by the grammar of the OCI distribution specification, or `undefined`.
 */
export function imageNameProblem({ registry, repository, tag }: ImageName): ReferenceProblem | undefined {
  return registryProblem(registry) ?? repositoryProblem(registry, repository) ?? tagProblemOf(tag);
}

function registryProblem(registry: string): ReferenceProblem | undefined {
  const malformed = (): ReferenceProblem => ({
    message: `The registry is malformed: "${publicUrl(registry).slice(0, 80)}"`,
    hint: "A registry is a host, with a port if it has one: registry.example.com:5000.",
  });
  if (registry === "" || registry.length > MAX_NAME_LENGTH) return malformed();
  const isHost =
    /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(?::\d+)?$/i;
  if (!isHost.test(registry) || !URL.canParse(`https://${registry}/`)) return malformed();
  // A name that the URL parser reads as another address, such as 0x7f.1, is not the host that the author sees.
  return new URL(`http://${registry}/`).hostname === registry.replace(/:\d+$/, "").toLowerCase() ||
    registry.startsWith("[")
    ? undefined
    : malformed();
}

function repositoryProblem(registry: string, repository: string): ReferenceProblem | undefined {
  const shown = `"${publicUrl(repository).slice(0, 80)}"`;
  if (repository === "") return { message: "The OCI reference names no repository" };
  if (registry.length + repository.length + 1 > MAX_NAME_LENGTH) {
    return { message: `The name of the image is longer than ${MAX_NAME_LENGTH} characters: ${shown}` };
  }
  if (repository.split("/").every((part) => COMPONENT.test(part))) {
    if (registry !== DEFAULT_REGISTRY || repository.includes("/")) return undefined;
    return {
      message: `The OCI reference names no registry, and ${DEFAULT_REGISTRY} has no repository ${shown}`,
      hint: "A repository there has at least a group and a project.",
    };
  }
  if (/[A-Z]/.test(repository)) {
    return { message: `The repository of an image has no upper-case letters: ${shown}` };
  }
  return {
    message: `The repository of the image is malformed: ${shown}`,
    hint: "Its parts are letters and digits, with single points, one or two underscores or hyphens between them.",
  };
}

function tagProblemOf(tag: string): ReferenceProblem | undefined {
  if (!isDigest(tag)) {
    return TAG.test(tag)
      ? undefined
      : {
          message: `The tag of the image is malformed: "${tag.slice(0, 80)}"`,
          hint: "A tag is up to 128 letters, digits, underscores, points and hyphens, and begins with none of the last two.",
        };
  }
  const [algorithm = "", hex = ""] = tag.split(":");
  const digits = DIGEST_DIGITS[algorithm];
  if (digits === undefined) {
    return {
      message: `The digest of the image has an unknown algorithm: "${algorithm.slice(0, 40)}"`,
      hint: "Use sha256 or sha512.",
    };
  }
  return /^[0-9a-f]+$/.test(hex) && hex.length === digits
    ? undefined
    : { message: `The digest of the image must have ${digits} hex digits: "${tag.slice(0, 40)}…"` };
}

/** The text of an image's name. */
export function formatImageName({ registry, repository, tag }: ImageName): string {
  return `${registry}/${repository}${isDigest(tag) ? "@" : ":"}${tag}`;
}
