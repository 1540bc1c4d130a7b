import { describePatterns, matchGlobs, matchPaths, type PathsResult } from "./match-paths.ts";
import type { PathsCondition } from "./rule.ts";
import { type ConditionOutcome, type FilledText, type RuleContext, RuleProblem } from "./rule-context.ts";
import { type FilesOf, SituationError } from "./situation.ts";

/** GitLab's own limit: with more comparisons of a path with a pattern, it takes the condition for true. */
const MAX_COMPARISONS = 10_000;

/**
 * Decides `rules:exists`: whether git tracks a file that matches one of the patterns, here or in another project. A pattern
 * without wildcards that ends with a slash is a folder.
 *
 * @throws {RuleProblem} when there is no such project or ref, or a pattern cannot be compared.
 */
export async function decideExists(condition: PathsCondition, context: RuleContext): Promise<ConditionOutcome> {
  const { node } = condition;
  const project = condition.project && context.expandOnce("rules:exists:project", condition.project);
  const ref = condition.ref && context.expandOnce("rules:exists:ref", condition.ref);
  const files = await trackedFiles(condition, { project: project?.text, ref: ref?.text }, context);
  const place = project === undefined ? "" : ` in ${project.shown}${ref === undefined ? "" : ` at ${ref.shown}`}`;
  const found = await matchPaths(condition, files, {
    patterns: context.patterns,
    maxComparisons: MAX_COMPARISONS,
    fill: (text) => context.expandOnce("rules:exists", text),
    matchPatterns: (patterns) => matchTracked(patterns, files),
  });
  if (found === undefined) {
    return { kind: "exists", node, holds: false, reason: `no file${place} matches ${describePatterns(condition)}` };
  }
  if (found === "too-many") {
    const reason = "there are too many files to compare, which counts as a match";
    return { kind: "exists", node, holds: true, reason };
  }
  return { kind: "exists", node, holds: true, reason: `${found.path} exists${place} and matches ${found.pattern}` };
}

async function trackedFiles(
  { node, project, ref }: PathsCondition,
  from: FilesOf,
  { situation }: RuleContext,
): Promise<readonly string[]> {
  try {
    return (await situation.trackedFiles?.(from)) ?? [];
  } catch (error) {
    if (error instanceof SituationError) throw new RuleProblem((ref ?? project)?.node ?? node, error.message);
    throw error;
  }
}

function matchTracked(patterns: readonly FilledText[], files: readonly string[]): PathsResult {
  const wild = patterns.filter(({ text }) => /[*?[{]/.test(text));
  const exact = patterns.filter((pattern) => !wild.includes(pattern));
  const extensions = wild.filter(isExtension);
  const others = wild.filter((pattern) => !isExtension(pattern));
  return matchExact(exact, files) ?? matchExtensions(extensions, files) ?? matchGlobs(others, files, MAX_COMPARISONS);
}

// GitLab does not count the comparisons of a pattern without wildcards, or of one that only names an ending.
function matchExact(patterns: readonly FilledText[], files: readonly string[]): PathsResult {
  if (patterns.length === 0) return undefined;
  const known = new Set(files);
  for (const { text, shown } of patterns) {
    const isFolder = text.endsWith("/") && files.some((file) => file.startsWith(text));
    if (known.has(text) || isFolder) return { path: shown, pattern: shown };
  }
  return undefined;
}

const ANYWHERE = "**/*";

function isExtension({ text }: FilledText): boolean {
  return text.startsWith(`${ANYWHERE}.`) && !/[*?[{/\\]/.test(text.slice(ANYWHERE.length));
}

function matchExtensions(patterns: readonly FilledText[], files: readonly string[]): PathsResult {
  for (const { text, shown } of patterns) {
    const path = files.find((file) => file.endsWith(text.slice(ANYWHERE.length)));
    if (path !== undefined) return { path, pattern: shown };
  }
  return undefined;
}
