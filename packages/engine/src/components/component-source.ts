import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "@steps/platform/runtime";
import type { ComponentRequest } from "@steps/cache";
import { isReferenceProblem, parseReference, publicUrl } from "@steps/model/reference";
import { componentKindOf, fetchedKindOf, isComponentReference, isStoredKind, ofPath } from "@steps/model/kinds";

/**
 * Another source for components than their references name, for users who work on a component or cannot reach its
 * server.
 */
export interface ComponentSource {
  /** Without `https://` and `oci://`, which say the same of a name that has none. */
  readonly location: string;
  /** The kind, if `oci://` or a tag tells it; `undefined` if the location could be of either kind. */
  readonly kind: "oci" | undefined;
  /** A revision, tag or digest; `undefined`: any. */
  readonly version: string | undefined;
  /** The location ends in `/`: everything below it. */
  readonly isPrefix: boolean;
  /** A folder, or a URL. */
  readonly target: string;
}

/** A source that cannot be read, and why. */
export interface SourceProblem {
  readonly message: string;
}

/**
 * Reads `REF=PATH|URL`. REF names a component, not a step in it: `host/group/project`, with or without `@REV`,
 * `registry/repository[:tag]`, the URL of a zip, or all that begins with it if it ends in `/`. PATH begins with `.` or `/`;
 * a relative one starts at `dir`.
 */
export function parseComponentSource(text: string, dir: string): ComponentSource | SourceProblem {
  const split = text.indexOf("=");
  const [reference, written] = [text.slice(0, split).trim(), text.slice(split + 1).trim()];
  if (split < 1 || reference === "" || written === "") return { message: "it is not REF=PATH or REF=URL" };
  if (/\/-\/|[^:]\/\//.test(reference))
    return { message: "it names a step in a component; name the repository, archive or image" };
  const isPath = /^[./]/.test(written);
  if (!isPath && !/^[a-z][a-z0-9+.-]*:\/\//i.test(written))
    return { message: "what follows = is neither a path, which begins with . or /, nor a URL" };
  const target = isPath ? resolve(dir, written) : written;
  const key = parseKey(reference);
  if (key.isPrefix && key.version !== undefined) return { message: "a prefix has no version" };
  return { ...key, target };
}

function parseKey(text: string): Omit<ComponentSource, "target"> {
  const isImage = /^oci:\/\//i.test(text);
  const location = bare(text);
  const start = /^[a-z][a-z0-9+.-]*:\/\//i.exec(location)?.[0].length ?? 0;
  const at = location.lastIndexOf("@");
  const name = location.indexOf("/", start);
  if (name !== -1 && at > name) {
    const version = location.slice(at + 1);
    const isDigest = version.startsWith("sha256:");
    return { location: location.slice(0, at), kind: isImage || isDigest ? "oci" : undefined, version, isPrefix: false };
  }
  const tag = start === 0 ? /^(.+\/[^/]+):([\w][\w.-]*)$/.exec(location) : null;
  if (tag !== null) return { location: tag[1] as string, kind: "oci", version: tag[2], isPrefix: false };
  return { location, kind: isImage ? "oci" : undefined, version: undefined, isPrefix: location.endsWith("/") };
}

/** A location as sources compare it: no credentials, no `git+`, no scheme where that is the usual one. */
function bare(location: string): string {
  const url = publicUrl(location.replace(/^git\+/i, ""));
  const [, authority = "", rest = ""] = /^([^/]*:\/\/[^/]*|[^/]*)(.*)$/s.exec(url) ?? [];
  return `${authority.toLowerCase()}${rest}`.replace(/^(?:https|oci):\/\//, "");
}

/** The source that answers a request. */
export interface FoundSource {
  /** For people: the folder or URL. */
  readonly shown: string;
  readonly request: ComponentRequest;
}

/** The source of a component: one with its version before one without, and the longest name before shorter ones. */
export function findSource(
  sources: readonly ComponentSource[],
  request: ComponentRequest,
): FoundSource | SourceProblem | undefined {
  if (!isStoredKind(request.kind) || sources.length === 0) return undefined;
  const { written, version } = componentKindOf(request).name(request);
  const named = { location: bare(written), version };
  const fits = sources.filter(
    (source) =>
      (source.kind === undefined || source.kind === request.kind) &&
      (source.isPrefix ? isBelow(named.location, source.location) : named.location === source.location) &&
      (source.version === undefined || source.version === named.version),
  );
  const [best] = fits.toSorted(
    (a, b) =>
      Number(b.version !== undefined) - Number(a.version !== undefined) || b.location.length - a.location.length,
  );
  if (best === undefined) return undefined;
  const rest = best.isPrefix ? named.location.slice(best.location.length) : "";
  return redirect(best.target, rest, request);
}

// A name with `..` lies below no prefix.
function isBelow(location: string, prefix: string): boolean {
  return location.startsWith(prefix) && !location.slice(prefix.length).split("/").includes("..");
}

function redirect(target: string, rest: string, request: ComponentRequest): FoundSource | SourceProblem {
  const isPath = isAbsolute(target);
  const whole = isPath ? join(target, rest) : rest === "" ? target : `${target.replace(/\/$/, "")}/${rest}`;
  const shown = publicUrl(whole);
  const found = isPath ? ofPath(whole) : requestOf(whole, request);
  if (found === undefined) return { message: `"${shown}" is no component` };
  const isSameKind = found.kind === request.kind;
  const standingIn = isSameKind ? componentKindOf(found).standingIn?.(found, request, whole) : undefined;
  return { shown: isPath ? whole : shown, request: standingIn ?? found };
}

function requestOf(url: string, request: ComponentRequest): ComponentRequest | undefined {
  const asked = componentKindOf(request);
  let parsed = parseReference(url);
  // A repository stands in with the version that is asked for, unless it names its own.
  if (isReferenceProblem(parsed) && asked.isVersioned && !hasVersion(url)) {
    parsed = parseReference(`${url}${asked.mark(asked.name(request).version)}`);
  }
  if (isReferenceProblem(parsed) || !isComponentReference(parsed)) return undefined;
  return fetchedKindOf(parsed).request(parsed, { path: (written) => fileURLToPath(written) });
}

// An `@` in the authority belongs to the user's name.
function hasVersion(url: string): boolean {
  const name = url.indexOf("/", url.indexOf("://") + 3);
  return name !== -1 && url.lastIndexOf("@") > name;
}
