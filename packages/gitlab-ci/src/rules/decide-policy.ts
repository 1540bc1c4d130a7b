import type { YamlNode } from "@steps/source";
import { decidePolicyChanges } from "./changes.ts";
import { decideCondition } from "./decide-condition.ts";
import { PatternError, readPattern } from "./if/patterns.ts";
import type { Condition, PlacedText, Policy } from "./rule.ts";
import { type ConditionOutcome, type RuleContext, RuleProblem } from "./rule-context.ts";
import { isBranch, isMergeRequest, type Situation } from "./situation.ts";

/**
 * Decides `only` or `except`: one outcome for each kind of condition that it asks for, in GitLab's order. Of each kind one item has
 * to hold.
 *
 * @throws {RuleProblem} when a pattern cannot be looked for.
 */
export async function decidePolicy(
  { node, refs, variables, changes, kubernetes }: Policy,
  context: RuleContext,
): Promise<readonly ConditionOutcome[]> {
  const outcomes: ConditionOutcome[] = [];
  if (refs !== undefined) outcomes.push(await decideRefs(refs, node, context));
  if (kubernetes !== undefined) {
    const holds = context.situation.hasKubernetes === true;
    const reason = holds ? "there is a cluster" : "there is no cluster";
    outcomes.push({ kind: "kubernetes", node: kubernetes, holds, reason });
  }
  if (variables !== undefined) outcomes.push(await decideVariables(variables, node, context));
  if (changes !== undefined) outcomes.push(await decidePolicyChanges({ node, paths: changes }, context));
  return outcomes;
}

async function decideRefs(
  refs: readonly PlacedText[],
  node: YamlNode,
  context: RuleContext,
): Promise<ConditionOutcome> {
  const what = describeSituation(context.situation);
  for (const ref of refs) {
    if (await matchesRef(ref, context)) {
      return { kind: "refs", node: ref.node, holds: true, reason: `${what} is one of ${ref.text}` };
    }
  }
  const list = refs
    .map(({ text }) => text)
    .slice(0, 10)
    .join(", ");
  return { kind: "refs", node, holds: false, reason: `${what} is none of ${list}` };
}

/** Says what a pipeline is of: `a pipeline of the branch main, started by push`. */
export function describeSituation(situation: Situation): string {
  const { source, ref, isTag = false } = situation;
  if (isMergeRequest(situation)) return "a pipeline of a merge request";
  if (ref === undefined) return `a pipeline of a branch without a name, started by ${source}`;
  return `a pipeline of the ${isTag ? "tag" : "branch"} ${ref}, started by ${source}`;
}

async function matchesRef(ref: PlacedText, { situation, patterns }: RuleContext): Promise<boolean> {
  const [pattern = "", path] = splitPath(ref.text);
  const { source, isTag = false, projectPath } = situation;
  if (path !== undefined && path !== projectPath) return false;
  if (pattern === "tags" && isTag) return true;
  if (pattern === "branches" && isBranch(situation)) return true;
  const name = source.replace(/_event$/, "");
  if (pattern === name || pattern === pluralize(name)) return true;
  // A merge request has no ref that a pattern is compared with.
  if (isMergeRequest(situation) || situation.ref === undefined) return false;
  const parts = readPattern(pattern);
  if (parts === undefined) return pattern === situation.ref;
  const compile = await patterns();
  try {
    return compile(parts.body, parts.flags).test(situation.ref);
  } catch (error) {
    if (error instanceof PatternError) throw new RuleProblem(ref.node, `Invalid pattern: ${error.message}`);
    throw error;
  }
}

function splitPath(text: string): readonly (string | undefined)[] {
  const at = text.indexOf("@");
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function pluralize(name: string): string {
  if (name.endsWith("push")) return `${name}es`;
  return `${name}s`;
}

async function decideVariables(
  conditions: readonly Condition[],
  node: YamlNode,
  context: RuleContext,
): Promise<ConditionOutcome> {
  let last: ConditionOutcome = { kind: "variables", node, holds: false, reason: "there is no condition" };
  for (const condition of conditions) {
    last = await decideCondition(condition, "variables", context);
    if (last.holds) return last;
  }
  return last;
}
