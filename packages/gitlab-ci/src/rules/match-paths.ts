import { createGlob, type Work } from "./glob.ts";
import { MAX_REGEXP_LENGTH } from "./read-rules.ts";
import { PatternError } from "./if/patterns.ts";
import type { PathsCondition, PlacedText } from "./rule.ts";
import { type FilledText, type RuleContext, RuleProblem } from "./rule-context.ts";

/** Steps that the comparisons of one condition may take together: a second of work. */
const MAX_STEPS = 50_000_000;

/** Tells which path a pattern matched. */
interface PathMatch {
  readonly path: string;
  /** As it is to be shown. */
  readonly pattern: string;
}

/** The first path that matches a pattern; `too-many` when there was too much to compare, which GitLab counts as a match. */
export type PathsResult = PathMatch | "too-many" | undefined;

/**
 * Compares paths with patterns, pattern by pattern, in at most `maxComparisons` comparisons.
 *
 * @throws {RuleProblem} for a pattern that is too long.
 */
export function matchGlobs(
  patterns: readonly FilledText[],
  paths: readonly string[],
  maxComparisons: number,
): PathsResult {
  const work: Work = { left: MAX_STEPS };
  let comparisons = 0;
  for (const { from, text, shown } of patterns) {
    const glob = createGlob(text, work);
    if (glob === undefined) throw new RuleProblem(from.node, "The pattern is too long or has too many alternatives");
    for (const path of paths) {
      comparisons += 1;
      if (comparisons > maxComparisons) return "too-many";
      if (glob(path)) return { path, pattern: shown };
      if (work.left <= 0) return "too-many";
    }
  }
  return undefined;
}

/** The ways in which a condition compares paths. */
export interface PathMatching extends Pick<RuleContext, "patterns"> {
  readonly maxComparisons: number;
  /** Fills variables into a pattern. */
  readonly fill: (text: PlacedText) => FilledText;
  /** Compares the paths with the patterns of the condition. */
  readonly matchPatterns: (patterns: readonly FilledText[]) => PathsResult;
}

/**
 * Compares paths with the `regexp` of a condition, or with its patterns.
 *
 * @throws {RuleProblem} for a pattern that cannot be compared.
 */
export async function matchPaths(
  { paths: patterns, regexp }: PathsCondition,
  paths: readonly string[],
  matching: PathMatching,
): Promise<PathsResult> {
  if (regexp === undefined) return matching.matchPatterns(patterns.map(matching.fill));
  return matchRegexp(matching.fill(regexp), paths, matching);
}

async function matchRegexp(
  regexp: FilledText,
  paths: readonly string[],
  { patterns, maxComparisons }: PathMatching,
): Promise<PathsResult> {
  if (regexp.text.length > MAX_REGEXP_LENGTH) {
    throw new RuleProblem(regexp.from.node, `"regexp" is longer than ${MAX_REGEXP_LENGTH} characters`);
  }
  if (paths.length > maxComparisons) return "too-many";
  const compile = await patterns();
  try {
    const pattern = compile(regexp.text, "");
    const path = paths.find((one) => pattern.test(one));
    return path === undefined ? undefined : { path, pattern: regexp.shown };
  } catch (error) {
    if (error instanceof PatternError) throw new RuleProblem(regexp.from.node, `Invalid pattern: ${error.message}`);
    throw error;
  }
}

/** Says for an explanation what a list of patterns is. */
export function describePatterns({ paths, regexp }: PathsCondition): string {
  if (regexp !== undefined) return regexp.text;
  const shown = paths.slice(0, 3).map(({ text }) => text);
  return paths.length > shown.length ? `${shown.join(", ")} and ${paths.length - shown.length} more` : shown.join(", ");
}
