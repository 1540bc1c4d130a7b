import { publicUrl } from "./public-url.ts";
import type { ReferenceProblem } from "./reference-problem.ts";
import { type Download, downloadKind } from "./download.ts";
import type { ComponentKind, FetchedKind, ShortForm } from "./kind.ts";
import { encodePlace, joinPath, pathProblem, SCHEME, splitFile, titleOf, unsafePath } from "./paths.ts";

/** A folder of a zip file that holds a step. */
export interface ZipReference {
  readonly kind: "zip";
  /** `http:`, `https:` or `file:` URL, or a path relative to the folder of the calling step file. */
  readonly url: string;
  /** Expected SHA-256 of the archive, 64 lower-case hex digits. */
  readonly sha256?: string;
  readonly dir: string;
  readonly file?: string;
}

export type ZipRequest = Download<"zip">;

const ZIP = /\.zip(?:$|\/\/|[#?])/i;

const component: ComponentKind<ZipRequest> = {
  ...downloadKind("zip"),
  ofPath: (path) => (/\.zip$/i.test(path) ? { kind: "zip", url: path } : undefined),
};

export const zip: FetchedKind<ZipReference, ZipRequest> = {
  protocol: 3,
  claims: ({ text, scheme }) => ZIP.test(text) && scheme?.startsWith("git+") !== true,
  parse: parseZip,
  format({ url, dir, file, sha256 }) {
    const inner = joinPath(dir, file);
    return `${publicUrl(url)}${inner === "" ? "" : `//${inner}`}${sha256 === undefined ? "" : `#sha256=${sha256}`}`;
  },
  encode: ({ url, dir, file, sha256 }) => ({
    ...(url === "" ? {} : { url: publicUrl(url) }),
    ...encodePlace(dir, file),
    ...(sha256 ? { sha256 } : {}),
  }),
  decode: ({ url = "", sha256 }, place) => ({ kind: "zip", url, ...place, sha256: sha256 || undefined }),
  problem: ({ url, dir, file }) =>
    url === "" ? { message: "The reference has an empty url" } : pathProblem(dir, file),
  title: ({ url, dir }) => titleOf(url, dir),
  withoutCredentials: (reference) => ({ ...reference, url: publicUrl(reference.url) }),
  component,
  request: ({ url, sha256 }, place) => ({ kind: "zip", url: /^https?:/i.test(url) ? url : place.path(url), sha256 }),
  location: ({ url, sha256 }) => `${publicUrl(url)}${sha256 === undefined ? "" : `#sha256=${sha256}`}`,
};

function parseZip({ text }: ShortForm): ZipReference | ReferenceProblem {
  const hash = text.lastIndexOf("#");
  const fragment = hash === -1 ? undefined : text.slice(hash + 1);
  const digest = fragment === undefined ? undefined : /^sha256=([0-9a-fA-F]{64})$/.exec(fragment)?.[1]?.toLowerCase();
  if (fragment !== undefined && digest === undefined) {
    return {
      // Not quoted: a password with a `#` in it would end up here.
      message: "The zip reference has a malformed digest",
      hint: "Write #sha256= and 64 hex digits.",
    };
  }
  const location = hash === -1 ? text : text.slice(0, hash);
  const schemeEnd = SCHEME.exec(location)?.[0].length ?? 0;
  const problem = zipUrlProblem(location);
  if (problem !== undefined) return problem;
  const split = location.indexOf("//", Math.max(schemeEnd, location.search(ZIP)));
  const url = split === -1 ? location : location.slice(0, split);
  const { dir, file } = splitFile(split === -1 ? "" : location.slice(split + 2), "dir");
  return unsafePath(dir) ?? { kind: "zip", url, dir, sha256: digest, file };
}

/** The problem with the scheme of an archive's URL, or `undefined`; a path has none. */
export function zipUrlProblem(url: string): ReferenceProblem | undefined {
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined || ["http", "https", "file"].includes(scheme)) return undefined;
  return {
    message: `The zip reference has an unknown scheme: "${scheme}://"`,
    hint: "Zip files come from https, http, file or a path.",
  };
}
