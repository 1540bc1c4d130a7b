import {
  formatImageName,
  type ImageName,
  imageNameProblem,
  isDigest,
  isDigestLike,
  parseImageName,
} from "./oci-image.ts";
import { publicUrl } from "./public-url.ts";
import type { ReferenceProblem } from "./reference-problem.ts";
import type { ComponentKind, FetchedKind } from "./kind.ts";
import { encodePlace, joinPath, lastPart, pathProblem, splitFile, unsafePath } from "./paths.ts";

/** An image in a registry whose files are a step. */
export interface OciReference extends ImageName {
  readonly kind: "oci";
  /** The folder, relative to the image's root, without slashes at its ends; empty for the root. */
  readonly dir: string;
  readonly file?: string;
}

/** An image; its tag may be the digest `sha256:` and 64 hex digits. */
export interface OciRequest extends ImageName {
  readonly kind: "oci";
  /** Environment of the step, where credentials are looked for first. It is never stored. */
  readonly env?: Readonly<Record<string, string>>;
}

const component: ComponentKind<OciRequest> = {
  name({ registry, repository, tag }) {
    const uri = `oci://${registry.toLowerCase()}/${repository}`;
    return { uri, written: uri, version: tag };
  },
  isVersioned: true,
  mark: (tag) => `${isDigest(tag) ? "@" : ":"}${tag}`,
  requestOf({ uri, requestedVersion }) {
    const [, registry = "", repository = ""] = /^oci:\/\/([^/]+)\/(.+)$/.exec(uri) ?? [];
    return { kind: "oci", registry, repository, tag: requestedVersion, env: {} };
  },
  standingIn(request, { tag, env }, written) {
    const isTagged = /[:@][^/]*$/.test(written.replace(/^oci:\/\/[^/]*/i, ""));
    return { ...request, tag: isTagged ? request.tag : tag, env };
  },
  lock: {
    resolved: ({ resolvedVersion }) => resolvedVersion,
    pattern: /^sha256:[0-9a-f]{64}$/,
    // Each platform has its own.
    hasOneTree: false,
    exactly: (request, resolved) => ({ ...request, tag: resolved }),
  },
};

export const oci: FetchedKind<OciReference, OciRequest> = {
  protocol: 4,
  prefixes: ["oci:"],
  claims: ({ text, scheme }) => scheme === undefined && isImage(text),
  parse: ({ text, scheme }) => (scheme === "oci" || /^oci:/i.test(text) ? parseOci(text) : parseBareImage(text)),
  format(reference) {
    const inner = joinPath(reference.dir, reference.file);
    return `oci://${formatImageName(reference)}${inner === "" ? "" : ` ${inner}`}`;
  },
  encode: ({ registry, repository, tag, dir, file }) => ({
    ...(registry === "" ? {} : { registry }),
    ...(repository === "" ? {} : { repository }),
    ...(tag === "" ? {} : { tag }),
    ...encodePlace(dir, file),
  }),
  decode: ({ registry = "", repository = "", tag }, place) => ({
    kind: "oci",
    registry: registry.toLowerCase(),
    repository,
    tag: tag || "latest",
    ...place,
  }),
  problem: (reference) => imageNameProblem(reference) ?? pathProblem(reference.dir, reference.file),
  title: ({ dir, repository }) => lastPart(dir) ?? lastPart(repository),
  takesStepEnv: true,
  component,
  request: ({ registry, repository, tag }, { env }) => ({ kind: "oci", registry, repository, tag, env }),
  location: ({ registry, repository }) => `${registry}/${repository}`,
};

// An `@` is git's unless a digest follows it, and a `.git` is nobody else's.
function isImage(text: string): boolean {
  const [name = ""] = text.split(/\s/, 1);
  const at = name.lastIndexOf("@");
  if (at !== -1)
    return isDigestLike(name.slice(at + 1)) && name.indexOf("/") < at && name.indexOf("@") > name.indexOf("/");
  return !text.includes("@") && !/\.git(?:\/|$)/i.test(name);
}

// Nothing says that an image was meant, so a mistake is told in both readings.
function parseBareImage(text: string): OciReference | ReferenceProblem {
  const parsed = readImage(text, false);
  if ("message" in parsed && !text.includes("@")) {
    const reading = `${parsed.message.charAt(0).toLowerCase()}${parsed.message.slice(1)}`;
    return {
      message: `The reference "${shorten(text)}" names no revision for git, and as an image: ${reading}`,
      hint: `For git write ${shorten(text)}@REV with a branch, tag or commit, for an image REGISTRY/REPOSITORY:TAG, for a folder start with ./ or /.`,
    };
  }
  return parsed;
}

function shorten(text: string): string {
  const shown = publicUrl(text);
  return shown.length > 120 ? `${shown.slice(0, 120)}…` : shown;
}

function parseOci(text: string): OciReference | ReferenceProblem {
  const hasRegistry = /^oci:\/\//i.test(text);
  return readImage(text.slice(hasRegistry ? 6 : 4), hasRegistry);
}

// The path follows a blank; `/-/` can be in no image's name and stands for one, as in git's short form.
function readImage(text: string, hasRegistry: boolean): OciReference | ReferenceProblem {
  const [, name = "", path = ""] = /^(.*?)(?:\/-\/|\s+)(.*)$/.exec(text) ?? [text, text];
  const image = parseImageName(name, { hasRegistry });
  if ("message" in image) return image;
  const { dir, file } = splitFile(path, "dir");
  return unsafePath(dir) ?? { kind: "oci", ...image, dir, file };
}
