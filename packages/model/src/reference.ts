import type { SpecDefinition } from "./definition.ts";

/** What an invocation names: where a step's files come from. */
export type StepReference =
  | LocalReference
  | GitReference
  | ZipReference
  | DistReference
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
  /** With its scheme, and with credentials if the author wrote some: show it through `publicUrl()` only. */
  readonly url: string;
  /** Branch, tag, full or short commit, as written. */
  readonly version: string;
  /** From the repository's root, without slashes at its ends; empty for the root. */
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
  /** Anonymous list items see the inputs of the step they are written in (`steps-language` C19). */
  readonly seesCallerInputs: boolean;
}

/** A text that is no reference, and what to write instead. */
export interface ReferenceProblem {
  readonly message: string;
  readonly hint?: string;
}

/** File names looked for in a folder, in this order. */
export const DEFAULT_FILES: readonly string[] = ["func.yml", "func.yaml", "step.yml", "step.yaml"];

const CONTROL = /[\u0000-\u001f\u007f]/;
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
 * `dist://`; a zip; a leading `.` or `/` is local; the rest is git, `URL[/-/PATH]@REV` with PATH below `steps/`, or
 * `git+URL[//PATH]@REV` with PATH from the root.
 *
 * @see docs/reference/references.md
 */
export function parseReference(text: string): StepReference | ReferenceProblem {
  const trimmed = text.trim();
  if (trimmed === "") return { message: "The reference is empty" };
  if (trimmed.includes("${{")) return { kind: "dynamic", text: trimmed };
  if (CONTROL.test(trimmed)) return { message: "The reference holds a control character" };
  const scheme = SCHEME.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme === "builtin" || scheme === "dist") return parseDist(trimmed);
  if (scheme === "oci" || trimmed.startsWith("oci:")) return ociProblem(trimmed);
  if (/\.zip(?:$|\/\/|[#?])/i.test(trimmed) && !scheme?.startsWith("git+")) return parseZip(trimmed);
  if (scheme === undefined && /^[./]/.test(trimmed)) return { kind: "local", ...splitFile(trimmed, "path") };
  if (scheme !== undefined && !GIT_SCHEMES.has(scheme)) {
    return {
      message: `The reference has an unknown scheme: "${scheme}://"`,
      hint: "Git references use https, http, ssh or file.",
    };
  }
  return parseGit(trimmed, scheme);
}

/** Whether `parseReference()` found a problem. */
export function isReferenceProblem(parsed: StepReference | ReferenceProblem): parsed is ReferenceProblem {
  return !("kind" in parsed);
}

function parseDist(text: string): StepReference | ReferenceProblem {
  const { path, file } = splitFile(text.slice(text.indexOf("://") + 3), "path");
  if (path === "" && file === undefined) return { message: "The reference names no built-in step" };
  return { kind: "dist", path, ...(file === undefined ? {} : { file }) };
}

function parseZip(text: string): StepReference | ReferenceProblem {
  const hash = text.lastIndexOf("#");
  const fragment = hash === -1 ? undefined : text.slice(hash + 1);
  const digest = fragment === undefined ? undefined : /^sha256=([0-9a-fA-F]{64})$/.exec(fragment)?.[1]?.toLowerCase();
  if (fragment !== undefined && digest === undefined) {
    return {
      message: `The zip reference has a malformed digest: "#${fragment}"`,
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
  const split = location.indexOf("//", schemeEnd);
  const url = split === -1 ? location : location.slice(0, split);
  const { dir, file } = splitFile(split === -1 ? "" : location.slice(split + 2), "dir");
  const unsafe = unsafePath(dir);
  if (unsafe) return unsafe;
  return {
    kind: "zip",
    url,
    dir,
    ...(digest === undefined ? {} : { sha256: digest }),
    ...(file === undefined ? {} : { file }),
  };
}

function parseGit(text: string, scheme: string | undefined): StepReference | ReferenceProblem {
  const authority = SCHEME.exec(text)?.[0].length ?? 0;
  const slash = text.indexOf("/", authority);
  // An `@` in the authority belongs to the user's name, so the revision is looked for behind it.
  const at = text.lastIndexOf("@");
  const userinfo = scheme !== undefined && at !== -1 && (slash === -1 || at < slash);
  if (at === -1 || userinfo) {
    return {
      message: `The reference names no revision: "${publicUrl(text)}"`,
      hint: `For git write ${publicUrl(text)}@REV with a branch, tag or commit, for a folder start with ./ or /. OCI images are not supported yet.`,
    };
  }
  const version = text.slice(at + 1);
  const location = text.slice(0, at);
  if (/^[a-z0-9]+:[0-9a-f]{32,}$/i.test(version)) return ociProblem(text);
  const problem = versionProblem(version);
  if (problem) return problem;
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
  return { kind: "git", url, version, dir, ...(inner.file === undefined ? {} : { file: inner.file }) };
}

function ociProblem(text: string): ReferenceProblem {
  return {
    message: `The reference names an OCI image: "${publicUrl(text)}"`,
    hint: "OCI images are not supported yet; use a git repository, a zip file or a folder.",
  };
}

/** What is wrong with a revision: the rules of `git check-ref-format`, and no leading `-`. */
export function versionProblem(version: string): ReferenceProblem | undefined {
  if (version === "") return { message: "The reference names an empty revision" };
  if (version.startsWith("-")) return { message: `The revision looks like an option: "${version}"` };
  // eslint-disable-next-line no-control-regex -- control characters are what this refuses
  const malformed = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|\.lock(?:\/|$)|(?:^|\/)\.|^@$/.test(
    version,
  );
  return malformed || version.length > 255
    ? { message: `The revision is malformed: "${version.slice(0, 80)}"` }
    : undefined;
}

/** What is wrong with the URL of a git repository: an unknown scheme, no host, option-like parts, control characters. */
export function gitUrlProblem(url: string): ReferenceProblem | undefined {
  if (CONTROL.test(url) || /%0[ad]|%00/i.test(url)) return { message: "The git URL holds a control character" };
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch (cause) {
    void cause;
    return { message: `The git URL is malformed: "${publicUrl(url)}"` };
  }
  if (!["http:", "https:", "ssh:", "file:"].includes(parsed.protocol)) {
    return {
      message: `The git URL has an unknown scheme: "${parsed.protocol}"`,
      hint: "Use https, http, ssh or file.",
    };
  }
  if (parsed.protocol !== "file:" && parsed.hostname === "")
    return { message: `The git URL names no host: "${publicUrl(url)}"` };
  if (parsed.hostname.startsWith("-") || decodeURIComponentSafe(parsed.username).startsWith("-")) {
    return { message: `The git URL looks like an option: "${publicUrl(url)}"` };
  }
  if (parsed.pathname.replaceAll("/", "") === "")
    return { message: `The git URL names no repository: "${publicUrl(url)}"` };
  return undefined;
}

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    void cause;
    return text;
  }
}

function unsafePath(dir: string): ReferenceProblem | undefined {
  return dir.split("/").includes("..") ? { message: `The path leaves the component: "${dir}"` } : undefined;
}

/** Splits `a/b/x.yml` into the folder and the file; without a `.yml` or `.yaml` end all of it is the folder. */
function splitFile<Key extends "path" | "dir">(
  text: string,
  key: Key,
): { readonly file?: string } & { readonly [K in Key]: string } {
  const parts = text.split("/");
  const last = parts.at(-1) ?? "";
  const isFile = /\.ya?ml$/i.test(last);
  const folder = (isFile ? parts.slice(0, -1) : parts).filter((part) => part !== "");
  let dir = folder.join("/");
  if (key === "path" && text.startsWith("/")) dir = `/${dir}`;
  if (key === "dir") dir = folder.filter((part) => part !== ".").join("/");
  if (key === "path" && dir === "" && isFile) dir = ".";
  const found = { [key]: dir, ...(isFile ? { file: last } : {}) };
  return found as { readonly file?: string } & { readonly [K in Key]: string };
}

/** The text of a reference, without credentials; `parseReference()` reads it back to the same reference. */
export function formatReference(reference: StepReference): string {
  switch (reference.kind) {
    case "local":
      return join(reference.path, reference.file);
    case "git": {
      const url = publicUrl(reference.url);
      const inSteps = reference.dir === "steps" || reference.dir.startsWith("steps/");
      const inner = join(inSteps ? reference.dir.slice("steps/".length) : reference.dir, reference.file);
      if (inSteps) return `${url.replace(/^https:\/\//, "")}${inner === "" ? "" : `/-/${inner}`}@${reference.version}`;
      return `git+${url}${inner === "" ? "" : `//${inner}`}@${reference.version}`;
    }
    case "zip": {
      const inner = join(reference.dir, reference.file);
      const digest = reference.sha256 === undefined ? "" : `#sha256=${reference.sha256}`;
      return `${publicUrl(reference.url)}${inner === "" ? "" : `//${inner}`}${digest}`;
    }
    case "dist":
      return `builtin://${join(reference.path, reference.file)}`;
    case "dynamic":
      return reference.text;
    case "inline":
      return "(inline)";
  }
}

function join(dir: string, file: string | undefined): string {
  if (file === undefined) return dir;
  if (dir === "") return file;
  return dir.endsWith("/") ? `${dir}${file}` : `${dir}/${file}`;
}

const TOKEN_PARAMETERS =
  /([?&](?:access_token|private_token|job_token|token|auth|key|signature|sig|x-amz-[a-z-]+)=)[^&#]*/gi;

/** A URL as it may be shown and stored: without user name, password and known token parameters. */
export function publicUrl(url: string): string {
  return url
    .replace(/^([a-zA-Z][a-zA-Z0-9+.-]*:\/\/)[^/?#]*@/, "$1")
    .replace(/^[^/?#@\s]+:[^/?#@\s]*@/, "")
    .replaceAll(TOKEN_PARAMETERS, "$1[MASKED]");
}
