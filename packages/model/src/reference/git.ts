import { publicUrl } from "./public-url.ts";
import { gitUrlProblem, type ReferenceProblem, versionProblem } from "./reference-problem.ts";
import type { ComponentKind, FetchedKind, ShortForm } from "./kind.ts";
import { legacyReadings } from "./legacy-git.ts";
import {
  componentLocation,
  encodePlace,
  joinPath,
  pathProblem,
  SCHEME,
  splitFile,
  titleOf,
  unsafePath,
} from "./paths.ts";

/** A folder of a git repository that holds a step. */
export interface GitReference {
  readonly kind: "git";
  /** The URL with its scheme, and with credentials if the author wrote some: show it through `publicUrl()` only. */
  readonly url: string;
  /** Branch, tag, full or short commit, as written. */
  readonly version: string;
  /** The folder, relative to the repository's root, without slashes at its ends; empty for the root. */
  readonly dir: string;
  readonly file?: string;
}

/** A commit of a repository. */
export interface GitRequest {
  readonly kind: "git";
  /** `https:`, `http:`, `ssh:` or `file:` URL. It may carry credentials: they are sent to its host and never stored. */
  readonly url: string;
  /** Tag, branch, full commit, or at least seven digits of a commit; looked for in this order. */
  readonly version: string;
}

const SCHEMES: ReadonlySet<string> = new Set([
  "http",
  "https",
  "ssh",
  "file",
  "git+http",
  "git+https",
  "git+ssh",
  "git+file",
]);

const DIGEST_HINT = "As git, a revision has no colon; the digest of an image is sha256: and 64 hex digits.";

const component: ComponentKind<GitRequest> = {
  name: ({ url, version }) => ({ uri: componentLocation(url), written: url, version }),
  isVersioned: true,
  mark: (version) => `@${version}`,
  requestOf: ({ uri, requestedVersion }) => ({ kind: "git", url: uri, version: requestedVersion }),
  lock: {
    resolved: ({ resolvedVersion }) => resolvedVersion,
    pattern: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/,
    hasOneTree: true,
    exactly: (request, resolved) => ({ ...request, version: resolved }),
  },
};

export const git: FetchedKind<GitReference, GitRequest> = {
  protocol: 2,
  claims: () => true,
  parse: parseGit,
  format: formatGit,
  encode: ({ url, version, dir, file }) => ({
    ...(url === "" ? {} : { url: publicUrl(url) }),
    ...(version === "" ? {} : { version }),
    ...encodePlace(dir, file),
  }),
  decode: ({ url = "", version = "" }, place) => ({ kind: "git", url, version, ...place }),
  problem: ({ url, version, dir, file }) => gitUrlProblem(url) ?? versionProblem(version) ?? pathProblem(dir, file),
  title: ({ url, dir }) => titleOf(url, dir),
  withoutCredentials: (reference) => ({ ...reference, url: publicUrl(reference.url) }),
  component,
  request: ({ url, version }) => ({ kind: "git", url, version }),
  location: ({ url }) => `git+${publicUrl(url)}`,
  otherReadings: legacyReadings,
  // The short form means `steps/`, but repositories of before that rule have their step at the root.
  mayLieAtRoot: ({ dir, file }) => dir === "steps" && file === undefined,
};

function parseGit({ text, scheme }: ShortForm): GitReference | ReferenceProblem {
  if (scheme !== undefined && !SCHEMES.has(scheme)) {
    return {
      message: `The reference has an unknown scheme: "${scheme}://"`,
      hint: "Git references use https, http, ssh or file.",
    };
  }
  const authority = SCHEME.exec(text)?.[0].length ?? 0;
  const slash = text.indexOf("/", authority);
  // An `@` in the authority belongs to the user's name, so the revision is looked for behind it.
  const at = text.lastIndexOf("@");
  const userinfo = slash === -1 ? scheme !== undefined : at < slash;
  if (at === -1 || userinfo) {
    return {
      message: `The reference names no revision: "${publicUrl(text)}"`,
      hint: `For git write ${publicUrl(text)}@REV with a branch, tag or commit, for an image oci://REGISTRY/REPOSITORY:TAG, for a folder start with ./ or /.`,
    };
  }
  const version = text.slice(at + 1);
  const location = text.slice(0, at);
  const problem = versionProblem(version);
  if (problem) return /^[a-z0-9]+:/i.test(version) ? { ...problem, hint: DIGEST_HINT } : problem;
  const explicit = scheme?.startsWith("git+") === true;
  const bare = explicit ? location.slice(4) : location;
  return explicit ? splitGit(bare, "//", "", version) : splitGit(bare, "/-/", "steps", version);
}

function splitGit(location: string, marker: string, prefix: string, version: string): GitReference | ReferenceProblem {
  const start = SCHEME.exec(location)?.[0].length ?? 0;
  const split = location.indexOf(marker, start);
  const address = split === -1 ? location : location.slice(0, split);
  const inner = splitFile(split === -1 ? "" : location.slice(split + marker.length), "dir");
  const dir = [prefix, inner.dir].filter((part) => part !== "").join("/");
  const url = start === 0 ? `https://${address}` : address;
  return unsafePath(dir) ?? gitUrlProblem(url) ?? { kind: "git", url, version, dir, file: inner.file };
}

function formatGit(reference: GitReference, isRead: (text: string, reference: GitReference) => boolean): string {
  const { version, dir, file } = reference;
  const url = publicUrl(reference.url);
  if (dir === "steps" || dir.startsWith("steps/")) {
    const inner = joinPath(dir.slice("steps/".length), file);
    const short = `${url.replace(/^https:\/\//, "")}${inner === "" ? "" : `/-/${inner}`}@${version}`;
    // A host like `.a`, a revision like `v1.zip` or a `/-/` in the URL would be read as something else.
    if (isRead(short, { ...reference, url })) return short;
  }
  const inner = joinPath(dir, file);
  return `git+${url}${inner === "" ? "" : `//${inner}`}@${version}`;
}
