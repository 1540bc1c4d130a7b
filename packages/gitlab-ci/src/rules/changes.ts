import { describePatterns, matchGlobs, matchPaths, type PathsResult } from "./match-paths.ts";
import type { PathsCondition } from "./rule.ts";
import { type ConditionOutcome, type FilledText, type RuleContext, RuleProblem } from "./rule-context.ts";
import { SituationError } from "./situation.ts";

/** GitLab's own limit: with more comparisons of a path with a pattern, it takes the condition for true. */
const MAX_COMPARISONS = 50_000;

/**
 * Decides `rules:changes`: whether a changed file matches one of the patterns. It holds where there is nothing to compare with.
 *
 * @throws {RuleProblem} when `compare_to` is no commit or a pattern cannot be compared.
 */
export async function decideChanges(condition: PathsCondition, context: RuleContext): Promise<ConditionOutcome> {
  const { node, compareTo } = condition;
  const since = compareTo && context.expand("rules:changes:compare_to", compareTo);
  const files = await changedFiles(since, context);
  const place = since === undefined ? "" : ` since ${since.shown}`;
  if (files === undefined) {
    return { kind: "changes", node, holds: true, reason: `there is nothing to compare with${place}` };
  }
  if (files.length === 0) return { kind: "changes", node, holds: false, reason: `no file changed${place}` };
  const found = await matchPaths(condition, files, {
    patterns: context.patterns,
    maxComparisons: MAX_COMPARISONS,
    fill: (text) => context.expand("rules:changes", text),
    matchPatterns: (patterns) => matchDistinct(patterns, files),
  });
  const { holds, reason } = describe(found, { condition, files, place });
  return { kind: "changes", node, holds, reason };
}

/** The same for `changes` of `only` and `except`, whose patterns take no variables. */
export async function decidePolicyChanges(
  { node, paths }: Pick<PathsCondition, "node" | "paths">,
  context: RuleContext,
): Promise<ConditionOutcome> {
  const files = await changedFiles(undefined, context);
  if (files === undefined) return { kind: "changes", node, holds: true, reason: "there is nothing to compare with" };
  const found = matchGlobs(
    paths.map((from) => ({ from, text: from.text, shown: from.text })),
    files,
    MAX_COMPARISONS,
  );
  const { holds, reason } = describe(found, { condition: { node, paths }, files, place: "" });
  return { kind: "changes", node, holds, reason };
}

async function changedFiles(
  since: FilledText | undefined,
  { situation }: RuleContext,
): Promise<readonly string[] | undefined> {
  try {
    return await situation.changedFiles?.(since?.text);
  } catch (error) {
    if (error instanceof SituationError && since !== undefined) throw new RuleProblem(since.from.node, error.message);
    throw error;
  }
}

function matchDistinct(patterns: readonly FilledText[], files: readonly string[]): PathsResult {
  const distinct = new Map(patterns.map((pattern) => [pattern.text, pattern]));
  if (files.length * distinct.size > MAX_COMPARISONS) return "too-many";
  return matchGlobs([...distinct.values()], files, MAX_COMPARISONS);
}

function describe(
  found: PathsResult,
  {
    condition,
    files,
    place,
  }: { readonly condition: PathsCondition; readonly files: readonly string[]; readonly place: string },
): Pick<ConditionOutcome, "holds" | "reason"> {
  if (found === undefined) {
    const count = files.length === 1 ? "the file" : `none of ${files.length} files`;
    const verb = files.length === 1 ? "does not match" : "matches";
    return { holds: false, reason: `${count} that changed${place} ${verb} ${describePatterns(condition)}` };
  }
  if (found === "too-many")
    return { holds: true, reason: "there are too many files to compare, which counts as a match" };
  return { holds: true, reason: `${found.path} changed${place} and matches ${found.pattern}` };
}
