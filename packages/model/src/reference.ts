import { type ActionReference, formatAction } from "./action-reference.ts";
import type { SpecDefinition } from "./definition.ts";
import { formatImageName, isDigestLike, parseImageName } from "./oci-image.ts";
import { publicUrl } from "./public-url.ts";
import { CONTROL, gitUrlProblem, type ReferenceProblem, versionProblem } from "./reference-problem.ts";

/** Names the source of a step's files in an invocation. */
export type StepReference =
  | LocalReference
  | GitReference
  | ZipReference
  | OciReference
  | DistReference
  | ActionReference
  | DynamicReference
  | InlineReference;

/** A folder or file, relative to the folder of the calling step file, or absolute. Always with `/`. */
export interface LocalReference {
  readonly kind: "local";
  /** The folder: `.`, `./a/b`, `../c`, `/opt/steps`. */
  readonly path: string;
  /** Absent: the first of `func.yml`, `func.yaml`, `step.yml`, `step.yaml`. */
  readonly file?: string;
}

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

export interface ZipReference {
  readonly kind: "zip";
  /** `http:`, `https:` or `file:` URL, or a path relative to the folder of the calling step file. */
  readonly url: string;
  /** Expected SHA-256 of the archive, 64 lower-case hex digits. */
  readonly sha256?: string;
  readonly dir: string;
  readonly file?: string;
}

/** An image in a registry whose files are a step. */
export interface OciReference {
  readonly kind: "oci";
  /** The host in lower case, with a port if one was written. */
  readonly registry: string;
  readonly repository: string;
  /** A tag, or a digest like `sha256:…`. */
  readonly tag: string;
  /** The folder, relative to the image's root, without slashes at its ends; empty for the root. */
  readonly dir: string;
  readonly file?: string;
}

/** A step shipped with the runner. */
export interface DistReference {
  readonly kind: "dist";
  readonly path: string;
  readonly file?: string;
}

/** Becomes another reference once its expressions are expanded. */
export interface DynamicReference {
  readonly kind: "dynamic";
  readonly text: string;
}

/** A definition written in place. */
export interface InlineReference {
  readonly kind: "inline";
  readonly specDefinition: SpecDefinition;
  /**
   * True for a list item that is written in place: it sees the inputs of the step that it is written in (conformance
   * section 20 C19).
   */
  readonly seesCallerInputs: boolean;
}

/** File names looked for in a folder, in this order. */
export const DEFAULT_FILES: readonly string[] = ["func.yml", "func.yaml", "step.yml", "step.yaml"];

/** The length of the longest short form of a reference, in UTF-16 units. */
const MAX_REFERENCE_LENGTH = 64 * 1024;

const ZIP = /\.zip(?:$|\/\/|[#?])/i;
const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//;
const GIT_SCHEMES: ReadonlySet<string> = new Set([
  "http",
  "https",
  "ssh",
  "file",
  "git+http",
  "git+https",
  "git+ssh",
  "git+file",
]);

/**
 * Reads the short form of a reference. In this order: an expression anywhere makes it dynamic; `builtin://` and
 * `dist://`; `oci:`; a zip; a leading `.` or `/` is local; with an `@`, a scheme or a `.git` it is git,
 * `URL[/-/PATH]@REV` with PATH below `steps/`, or `git+URL[//PATH]@REV` with PATH from the root; the rest, and what
 * ends in the digest of an image, is OCI, `[REGISTRY/]REPOSITORY[:TAG|@DIGEST] [PATH]` (conformance section 20 C8).
 *
 * @see docs/reference/references.md
 */
export function parseReference(text: string): StepReference | ReferenceProblem {
  const parsed = parseTrimmed(text.trim());
  if (isReferenceProblem(parsed)) return parsed;
  const ends = [parsed.kind === "zip" && parsed.url, "dir" in parsed && parsed.dir, "path" in parsed && parsed.path];
  // Nobody would see it, and the text of the reference could not carry it.
  const isBlank = ends.some((end) => end !== false && /\s$/.test(end));
  return isBlank ? { message: "The reference has a path that ends in a blank" } : parsed;
}

function parseTrimmed(trimmed: string): StepReference | ReferenceProblem {
  if (trimmed === "") return { message: "The reference is empty" };
  if (trimmed.length > MAX_REFERENCE_LENGTH) return { message: "The reference is too long" };
  if (trimmed.includes("${{")) return { kind: "dynamic", text: trimmed };
  if (CONTROL.test(trimmed)) return { message: "The reference holds a control character" };
  const scheme = SCHEME.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme === "builtin" || scheme === "dist") return parseDist(trimmed);
  if (scheme === "oci" || /^oci:/i.test(trimmed)) return parseOci(trimmed);
  if (scheme === undefined && /^[a-zA-Z][a-zA-Z0-9+.-]+:[/\\]/.test(trimmed)) {
    return { message: "The reference has a malformed scheme", hint: "A scheme ends in ://, as in https://." };
  }
  if (ZIP.test(trimmed) && !scheme?.startsWith("git+")) return parseZip(trimmed);
  if (scheme === undefined && /^[./]/.test(trimmed)) return { kind: "local", ...splitFile(trimmed, "path") };
  if (scheme !== undefined && !GIT_SCHEMES.has(scheme)) {
    return {
      message: `The reference has an unknown scheme: "${scheme}://"`,
      hint: "Git references use https, http, ssh or file.",
    };
  }
  return scheme === undefined && isImage(trimmed) ? parseBareImage(trimmed) : parseGit(trimmed, scheme);
}

/** Whether `parseReference()` found a problem. */
export function isReferenceProblem(parsed: StepReference | ReferenceProblem): parsed is ReferenceProblem {
  return !("kind" in parsed);
}

function parseDist(text: string): StepReference | ReferenceProblem {
  const { path, file } = splitFile(text.slice(text.indexOf("://") + 3), "path");
  if (path === "" && file === undefined) return { message: "The reference names no built-in step" };
  const unsafe = unsafePath(path);
  if (unsafe) return unsafe;
  return { kind: "dist", path, file };
}

function parseZip(text: string): StepReference | ReferenceProblem {
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
  const scheme = SCHEME.exec(location)?.[1]?.toLowerCase();
  if (scheme !== undefined && !["http", "https", "file"].includes(scheme)) {
    return {
      message: `The zip reference has an unknown scheme: "${scheme}://"`,
      hint: "Zip files come from https, http, file or a path.",
    };
  }
  const split = location.indexOf("//", Math.max(schemeEnd, location.search(ZIP)));
  const url = split === -1 ? location : location.slice(0, split);
  const { dir, file } = splitFile(split === -1 ? "" : location.slice(split + 2), "dir");
  const unsafe = unsafePath(dir);
  if (unsafe) return unsafe;
  return {
    kind: "zip",
    url,
    dir,
    sha256: digest,
    file,
  };
}

function parseGit(text: string, scheme: string | undefined): StepReference | ReferenceProblem {
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

function splitGit(location: string, marker: string, prefix: string, version: string): StepReference | ReferenceProblem {
  const start = SCHEME.exec(location)?.[0].length ?? 0;
  const split = location.indexOf(marker, start);
  const address = split === -1 ? location : location.slice(0, split);
  const inner = splitFile(split === -1 ? "" : location.slice(split + marker.length), "dir");
  const dir = [prefix, inner.dir].filter((part) => part !== "").join("/");
  const url = start === 0 ? `https://${address}` : address;
  const problem = unsafePath(dir) ?? gitUrlProblem(url);
  if (problem) return problem;
  return { kind: "git", url, version, dir, file: inner.file };
}

const DIGEST_HINT = "As git, a revision has no colon; the digest of an image is sha256: and 64 hex digits.";

// An `@` is git's unless a digest follows it, and a `.git` is nobody else's.
function isImage(text: string): boolean {
  const [name = ""] = text.split(/\s/, 1);
  const at = name.lastIndexOf("@");
  if (at !== -1)
    return isDigestLike(name.slice(at + 1)) && name.indexOf("/") < at && name.indexOf("@") > name.indexOf("/");
  return !text.includes("@") && !/\.git(?:\/|$)/i.test(name);
}

// Nothing says that an image was meant, so a mistake is told in both readings.
function parseBareImage(text: string): StepReference | ReferenceProblem {
  const parsed = readImage(text, false);
  if (isReferenceProblem(parsed) && !text.includes("@")) {
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

function parseOci(text: string): StepReference | ReferenceProblem {
  const hasRegistry = /^oci:\/\//i.test(text);
  return readImage(text.slice(hasRegistry ? 6 : 4), hasRegistry);
}

// The path follows a blank; `/-/` can be in no image's name and stands for one, as in git's short form.
function readImage(text: string, hasRegistry: boolean): StepReference | ReferenceProblem {
  const [, name = "", path = ""] = /^(.*?)(?:\/-\/|\s+)(.*)$/.exec(text) ?? [text, text];
  const image = parseImageName(name, { hasRegistry });
  if ("message" in image) return image;
  const { dir, file } = splitFile(path, "dir");
  const unsafe = unsafePath(dir);
  if (unsafe) return unsafe;
  return { kind: "oci", ...image, dir, file };
}

function unsafePath(dir: string): ReferenceProblem | undefined {
  return dir.split("/").includes("..") ? { message: `The path leaves the component: "${dir}"` } : undefined;
}

/** Splits `a/b/x.yml` into the folder and the file; without a `.yml` or `.yaml` end all of it is the folder. */
function splitFile<Key extends "path" | "dir">(
  text: string,
  key: Key,
): { readonly file?: string } & { readonly [K in Key]: string } {
  const parts = text.split("/").filter((part) => part !== "");
  const last = parts.at(-1) ?? "";
  const isFile = /\.ya?ml$/i.test(last);
  const folder = isFile ? parts.slice(0, -1) : parts;
  let dir = folder.join("/");
  if (key === "path" && text.startsWith("/")) dir = `/${dir}`;
  if (key === "dir") dir = folder.filter((part) => part !== ".").join("/");
  if (key === "path" && dir === "" && isFile) dir = ".";
  const found = { [key]: dir, ...(isFile ? { file: last } : {}) };
  return found as { readonly file?: string } & { readonly [K in Key]: string };
}

/**
 * The text of a reference, without credentials; `parseReference()` reads it back to the same reference.
 *
 * Some references exist in the expanded form only and have no such text: a revision with an `@`, a zip whose URL does
 * not end in `.zip`, empty segments in the path of a git URL, a folder of an image that begins with a blank.
 */
export function formatReference(reference: StepReference): string {
  switch (reference.kind) {
    case "local":
      return join(reference.path, reference.file);
    case "git":
      return formatGit({ ...reference, url: publicUrl(reference.url) });
    case "zip": {
      const inner = join(reference.dir, reference.file);
      const digest = reference.sha256 === undefined ? "" : `#sha256=${reference.sha256}`;
      return `${publicUrl(reference.url)}${inner === "" ? "" : `//${inner}`}${digest}`;
    }
    case "oci": {
      const inner = join(reference.dir, reference.file);
      return `oci://${formatImageName(reference)}${inner === "" ? "" : ` ${inner}`}`;
    }
    case "dist":
      return `builtin://${join(reference.path, reference.file)}`;
    case "action":
      return formatAction(reference);
    case "dynamic":
      return reference.text;
    case "inline":
      return "(inline)";
  }
}

function formatGit(reference: GitReference): string {
  const { url, version, dir, file } = reference;
  if (dir === "steps" || dir.startsWith("steps/")) {
    const inner = join(dir.slice("steps/".length), file);
    const short = `${url.replace(/^https:\/\//, "")}${inner === "" ? "" : `/-/${inner}`}@${version}`;
    // A host like `.a`, a revision like `v1.zip` or a `/-/` in the URL would be read as something else.
    if (isSameGit(parseReference(short), reference)) return short;
  }
  const inner = join(dir, file);
  return `git+${url}${inner === "" ? "" : `//${inner}`}@${version}`;
}

function isSameGit(parsed: StepReference | ReferenceProblem, reference: GitReference): boolean {
  return (
    !isReferenceProblem(parsed) &&
    parsed.kind === "git" &&
    parsed.url === reference.url &&
    parsed.version === reference.version &&
    parsed.dir === reference.dir &&
    parsed.file === reference.file
  );
}

function join(dir: string, file: string | undefined): string {
  if (file === undefined) return dir;
  if (dir === "") return file;
  return dir.endsWith("/") ? `${dir}${file}` : `${dir}/${file}`;
}
