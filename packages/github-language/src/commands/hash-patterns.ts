import { HashPatternError } from "./command-error.ts";
import { type GlobSegment, matchesSegment, parseSegment } from "./glob-segment.ts";

/** The patterns of a `hashFiles`, compiled. All paths are absolute and have `/` between their parts. */
export interface HashPatterns {
  /**
   * The paths to walk from, in this order. None contains another, and none is outside the root. They need not exist.
   */
  readonly searchPaths: readonly string[];
  /** Whether symbolic links are followed: the first pattern was `--follow-symbolic-links`. */
  readonly followsSymbolicLinks: boolean;
  /**
   * For a file, tells whether it is to be hashed. For a folder, `no` means that nothing below it can match; `yes` that
   * it matches itself, and `partial` that it does not, and both are walked.
   */
  match(path: string, isDirectory: boolean): "yes" | "no" | "partial";
}

interface Glob {
  readonly isNegated: boolean;
  readonly segments: readonly GlobSegment[];
  /** The same for what is below a match, which matches too. */
  readonly below: readonly GlobSegment[];
  /** True for a pattern that ends in a slash: it matches no file, but everything below a folder. */
  readonly isFolderOnly: boolean;
}

const MAX_PATTERNS = 1000;
const MAX_LENGTH = 10_000;

/**
 * Compiles patterns as `@actions/glob` reads them: in order, a later one overrules an earlier one; `!` excludes, `#`
 * comments, blank lines are nothing, and a text may hold several patterns on lines of their own. `*`, `?` and `[]` match
 * within a part of a path, `**` any number of parts; names with a leading dot are like others. What is below a folder
 * that matches, matches too. `~` is the home folder, anything else that is not absolute is below the root.
 *
 * For the digest, walk each search path depth first, the names of a folder in the order of their bytes.
 *
 * @throws HashPatternError
 */
export function compileHashPatterns(
  patterns: readonly string[],
  options: { readonly root: string; readonly home?: string },
): HashPatterns {
  const [first = ""] = patterns;
  const followsSymbolicLinks = first.toLowerCase() === "--follow-symbolic-links";
  if (first.startsWith("--") && !followsSymbolicLinks) {
    throw new HashPatternError(`hashFiles has no option ${JSON.stringify(first)}`);
  }
  const lines = (followsSymbolicLinks ? patterns.slice(1) : patterns).flatMap((text) => text.split("\n"));
  const globs = lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => parseGlob(line, options));
  if (globs.length > MAX_PATTERNS) throw new HashPatternError(`hashFiles has more than ${MAX_PATTERNS} patterns`);
  return {
    searchPaths: searchPathsOf(globs, options.root),
    followsSymbolicLinks,
    match: (path, isDirectory) => match(globs, partsOf(path), isDirectory),
  };
}

function parseGlob(line: string, options: { readonly root: string; readonly home?: string }): Glob {
  if (line.length > MAX_LENGTH) throw new HashPatternError(`A pattern has more than ${MAX_LENGTH} characters`);
  const [marks = ""] = /^(?:!\s*)*/.exec(line) ?? [];
  const text = line.slice(marks.length);
  if (text === "") throw new HashPatternError(`The pattern ${JSON.stringify(line)} is empty`);
  const [head = "", ...tail] = text.split("/");
  const hasPrefix = head === "." || head === "~";
  const parts = (hasPrefix ? tail : [head, ...tail]).filter((part) => part !== "").map((part) => parseSegment(part));
  if (parts.some((part) => part.kind === "literal" && (part.text === "." || part.text === ".."))) {
    throw new HashPatternError(`The pattern ${JSON.stringify(line)} has a "." or ".." in it`);
  }
  if (head === "~" && options.home === undefined) {
    throw new HashPatternError(`The pattern ${JSON.stringify(line)} needs a home folder, and there is none`);
  }
  const base = head === "~" ? (options.home ?? "") : text.startsWith("/") ? "" : options.root;
  const isNegated = (marks.match(/!/g) ?? []).length % 2 === 1;
  const above = partsOf(base).map((part): GlobSegment => ({ kind: "literal", text: part }));
  const segments = [...above, ...parts];
  const below: readonly GlobSegment[] = [...segments, parseSegment("*"), { kind: "any" }];
  return { isNegated, segments, below, isFolderOnly: text.endsWith("/") && parts.length > 0 };
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}

function searchPathsOf(globs: readonly Glob[], root: string): readonly string[] {
  const rootParts = partsOf(root);
  const found: string[][] = [];
  for (const { isNegated, segments } of globs) {
    if (isNegated) continue;
    const path: string[] = [];
    for (const segment of segments) {
      if (segment.kind !== "literal") break;
      path.push(segment.text);
    }
    // Files outside of the root are never hashed: no need to walk there, and a walk from "/" would take long.
    if (startsWith(path, rootParts)) found.push(path);
    else if (startsWith(rootParts, path)) found.push([...rootParts]);
  }
  const kept = found.filter(
    (path, index) => !found.some((other, at) => startsWith(path, other) && (other.length < path.length || at < index)),
  );
  return kept.map((path) => `/${path.join("/")}`);
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.length <= path.length && start.every((part, index) => path[index] === part);
}

function match(globs: readonly Glob[], parts: readonly string[], isDirectory: boolean): "yes" | "no" | "partial" {
  let isMatched = false;
  let mayMatchBelow = false;
  for (const { isNegated, segments, below, isFolderOnly } of globs) {
    const isBelow = matchesParts(below, parts);
    const isCovered = isBelow || matchesParts(segments, parts);
    if (isBelow || (isCovered && (isDirectory || !isFolderOnly))) isMatched = !isNegated;
    // A pattern that covers a folder covers everything below it, but a later pattern may bring some of that back.
    if (isCovered) mayMatchBelow = !isNegated;
    else if (!isNegated) mayMatchBelow ||= mayMatchDeeper(segments, parts);
  }
  if (isMatched) return "yes";
  return isDirectory && mayMatchBelow ? "partial" : "no";
}

// In time of the product of both, as only the last "**" is ever tried again.
function matchesParts(segments: readonly GlobSegment[], parts: readonly string[]): boolean {
  let segment = 0;
  let retry: { segment: number; part: number } | undefined;
  for (let part = 0; part < parts.length;) {
    const next = segments[segment];
    if (next?.kind === "any") {
      retry = { segment: (segment += 1), part };
    } else if (next && matchesSegment(next, parts[part] as string)) {
      segment += 1;
      part += 1;
    } else if (retry) {
      part = retry.part += 1;
      segment = retry.segment;
    } else return false;
  }
  while (segments[segment]?.kind === "any") segment += 1;
  return segment === segments.length;
}

function mayMatchDeeper(segments: readonly GlobSegment[], parts: readonly string[]): boolean {
  for (const [index, part] of parts.entries()) {
    const segment = segments[index];
    if (segment?.kind === "any") return true;
    if (!segment || !matchesSegment(segment, part)) return false;
  }
  return true;
}
