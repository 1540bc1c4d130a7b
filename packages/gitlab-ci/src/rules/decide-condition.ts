import { evaluateIf } from "./if/evaluate-if.ts";
import { type CompilePattern, PatternError, readPattern } from "./if/patterns.ts";
import type { Condition, JobRules, Rule } from "./rule.ts";
import { type ConditionOutcome, type RuleContext, RuleProblem } from "./rule-context.ts";
import type { RuleReport } from "./rule-codes.ts";

/**
 * Decides a condition of `rules:if`, `only:variables` or `except:variables`. It sees the variables as they were declared: nothing in
 * their values is expanded.
 *
 * @throws {RuleProblem} when a pattern cannot be looked for.
 */
export async function decideCondition(
  { node, parsed }: Condition,
  kind: "if" | "variables",
  { variables, patterns }: RuleContext,
): Promise<ConditionOutcome> {
  const compile = parsed.needsPatterns ? await patterns() : undefined;
  try {
    const { holds, explanation } = evaluateIf(parsed, { valueOf: (name) => variables.get(name)?.value, compile });
    return { kind, node, holds, reason: holds ? "it holds" : "it does not hold", explanation };
  } catch (error) {
    if (error instanceof PatternError) throw new RuleProblem(node, `The condition cannot be decided: ${error.message}`);
    throw error;
  }
}

/** All conditions of rules and policies. */
export function conditionsOf({ rules = [], only, except }: Partial<JobRules>): readonly Condition[] {
  const ofRules = rules.map(({ condition }: Rule) => condition).filter((condition) => condition !== undefined);
  return [...ofRules, ...(only?.variables ?? []), ...(except?.variables ?? [])];
}

/**
 * Reports the patterns that stand in conditions and are none of RE2's language, which is how GitLab refuses a configuration. The
 * engine is asked for only if there are patterns.
 */
export async function checkPatterns(
  conditions: readonly Condition[],
  patterns: () => Promise<CompilePattern>,
  report: RuleReport,
): Promise<void> {
  const literals = conditions.flatMap(({ node, parsed }) => parsed.patterns.map((pattern) => ({ node, pattern })));
  if (literals.length === 0) return;
  const compile = await patterns();
  for (const { node, pattern } of literals) {
    const message = problemOf(pattern.text, compile);
    if (message === undefined) continue;
    const { offset, length } = pattern;
    report.error(node, {
      code: "invalid-condition",
      message: `Invalid pattern: ${message}`,
      hint: "Patterns are those of RE2: no look-around and no references to groups.",
      part: { offset, length },
    });
  }
}

function problemOf(text: string, compile: CompilePattern): string | undefined {
  const parts = readPattern(text);
  if (parts === undefined) return "it goes over several lines";
  try {
    compile(parts.body, parts.flags);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}
