import type { YamlNode } from "@steps/source";
import type { CollectedVariables } from "../variables/collect-variables.ts";
import type { DeclaredVariable } from "../variables/read-variables.ts";
import { decideChanges } from "./changes.ts";
import { decideCondition } from "./decide-condition.ts";
import { decidePolicy, describeSituation } from "./decide-policy.ts";
import { decideExists } from "./exists.ts";
import { type CompilePattern, loadPatterns } from "./if/patterns.ts";
import type { AllowFailure, JobRules, Policy, Rule, When } from "./rule.ts";
import { type ConditionOutcome, createRuleContext, type RuleContext, RuleProblem } from "./rule-context.ts";
import type { Situation } from "./situation.ts";

/** A rule that was looked at. */
export interface RuleOutcome {
  readonly rule: Rule;
  /** The place in the list, from 0. */
  readonly index: number;
  readonly matches: boolean;
  /** Up to the first that does not hold. */
  readonly conditions: readonly ConditionOutcome[];
}

/** The ground of a decision: a rule that matched, no rule at all, `only` or `except`, no condition, or one that cannot be decided. */
export type DecidedBy =
  | { readonly kind: "rule"; readonly index: number; readonly rule: Rule }
  | { readonly kind: "no-rule" }
  | { readonly kind: "only" | "except"; readonly policy: Policy; readonly condition: ConditionOutcome }
  | { readonly kind: "nothing" }
  | { readonly kind: "problem"; readonly node: YamlNode };

/** Whether a job is in a pipeline, why, and how it then starts. */
export interface JobDecision {
  readonly isIn: boolean;
  readonly by: DecidedBy;
  /** Why, as a sentence without its period. */
  readonly reason: string;
  /** The rules up to the one that matched; empty for a job without rules. */
  readonly rules: readonly RuleOutcome[];
  /** The conditions of `only` and of `except` that were looked at. */
  readonly policies: readonly PolicyOutcome[];
  /** `never` for a job that is not in the pipeline. */
  readonly when: When;
  /** How long a delayed job waits, as written. */
  readonly startIn?: string | undefined;
  readonly allowFailure: AllowFailure;
  readonly interruptible?: boolean | undefined;
  /** The variables of the rule that matched, which win over the job's. */
  readonly variables: ReadonlyMap<string, DeclaredVariable>;
  /** `needs` of the rule that matched, or else the job's. */
  readonly needs?: YamlNode | undefined;
}

/** The outcome of one policy of `only` or `except`. */
export interface PolicyOutcome {
  readonly keyword: "only" | "except";
  readonly conditions: readonly ConditionOutcome[];
}

/** The options of `decideJob()`. */
export interface DecideOptions {
  readonly situation: Situation;
  /** The variables that rules see, as `collectVariablesOfRules()` gives them. */
  readonly variables: CollectedVariables;
  /** Gives the engine of patterns; by default it is loaded when a pattern is met. */
  readonly patterns?: () => Promise<CompilePattern>;
}

/**
 * Decides whether a job is in the pipeline and how it starts, as GitLab does: the first rule of which all conditions hold, without
 * one not at all; without `rules` every condition of `only` has to hold and none of `except`. What cannot be decided is a decision
 * against the job; nothing is thrown but what the functions of the situation throw.
 */
export async function decideJob(job: JobRules, options: DecideOptions): Promise<JobDecision> {
  const context = createRuleContext(options, options.patterns ?? loadPatterns);
  const state: State = { rules: [], policies: [] };
  try {
    const by =
      job.rules === undefined
        ? await decidePolicies(job, context, state)
        : await decideRules(job.rules, context, state);
    return conclude(job, { by, state, context });
  } catch (error) {
    if (!(error instanceof RuleProblem)) throw error;
    return { ...out(job, state), by: { kind: "problem", node: error.node }, reason: error.message };
  }
}

/** The same for the rules of a workflow or an include: without `when` a rule that matches lets it in. */
export function decidePipeline(rules: readonly Rule[] | undefined, options: DecideOptions): Promise<JobDecision> {
  return decideJob({ rules, when: "always", allowFailure: false }, options);
}

interface State {
  readonly rules: RuleOutcome[];
  readonly policies: PolicyOutcome[];
}

async function decideRules(rules: readonly Rule[], context: RuleContext, state: State): Promise<Verdict["by"]> {
  for (const [index, rule] of rules.entries()) {
    const conditions: ConditionOutcome[] = [];
    // A rule that cannot be decided is shown with what was found out before.
    const outcome = { rule, index, matches: false, conditions };
    state.rules.push(outcome);
    const matches = await matchRule(rule, context, conditions);
    state.rules[index] = { ...outcome, matches };
    if (matches) return { kind: "rule", index, rule };
  }
  return { kind: "no-rule" };
}

async function matchRule(rule: Rule, context: RuleContext, found: ConditionOutcome[]): Promise<boolean> {
  const { condition, changes, exists } = rule;
  const questions = [
    condition && (() => decideCondition(condition, "if", context)),
    changes && (() => decideChanges(changes, context)),
    exists && (() => decideExists(exists, context)),
  ];
  for (const question of questions) {
    const outcome = await question?.();
    if (outcome === undefined) continue;
    found.push(outcome);
    if (!outcome.holds) return false;
  }
  return true;
}

async function decidePolicies({ only, except }: JobRules, context: RuleContext, state: State): Promise<Verdict["by"]> {
  for (const [keyword, policy] of [
    ["only", only],
    ["except", except],
  ] as const) {
    if (policy === undefined) continue;
    const conditions = await decidePolicy(policy, context);
    state.policies.push({ keyword, conditions });
    const condition = conditions.find(({ holds }) => holds === (keyword === "except"));
    if (condition !== undefined) return { kind: keyword, policy, condition };
  }
  return { kind: "nothing" };
}

interface Verdict {
  readonly by: Exclude<DecidedBy, { readonly kind: "problem" }>;
  readonly state: State;
  readonly context: RuleContext;
}

function conclude(job: JobRules, { by, state, context }: Verdict): JobDecision {
  if (by.kind === "nothing") {
    const isAsked = state.policies.some(({ conditions }) => conditions.length > 0);
    const reason = isAsked ? admitted(job, context) : "Nothing keeps it out";
    return { ...out(job, state), isIn: true, when: job.when, startIn: job.startIn, by, reason };
  }
  if (by.kind !== "rule") return { ...out(job, state), by, reason: refused(job, by) };
  const { rule, index } = by;
  const when = rule.when ?? job.when;
  const isIn = when !== "never";
  return {
    ...out(job, state),
    isIn,
    by,
    reason: `Rule ${index + 1} matches${isIn ? "" : ` and says "when: never"`}`,
    when,
    startIn: rule.when === undefined ? job.startIn : rule.startIn,
    allowFailure: rule.allowFailure ?? job.allowFailure,
    interruptible: rule.interruptible ?? job.interruptible,
    variables: rule.variables ?? new Map(),
    needs: rule.needs ?? job.needs,
  };
}

function out(job: JobRules, { rules, policies }: State): Omit<JobDecision, "by" | "reason"> {
  const { allowFailure, interruptible, needs } = job;
  return { isIn: false, rules, policies, when: "never", allowFailure, interruptible, variables: new Map(), needs };
}

function admitted({ only, except }: JobRules, { situation }: RuleContext): string {
  const what = describeSituation(situation);
  if (only?.isWritten !== true && except === undefined)
    return `It is ${what}, which a job is in unless it says otherwise`;
  const keywords = [
    only?.isWritten === true ? `"only" lets it in` : undefined,
    except && `"except" does not keep it out`,
  ];
  return sentence(keywords.filter((part) => part !== undefined).join(", and "));
}

function refused({ rules, only }: JobRules, by: Exclude<DecidedBy, { kind: "rule" | "nothing" | "problem" }>): string {
  if (by.kind === "no-rule") {
    if (rules?.length === 0) return "The list of rules is empty";
    return rules?.length === 1 ? "The rule does not match" : `None of ${rules?.length ?? 0} rules matches`;
  }
  const { condition } = by;
  if (by.kind === "except") return `"except" keeps it out: ${condition.reason}`;
  if (only?.isWritten !== true) return `${sentence(condition.reason)}; a job without rules is in no other pipeline`;
  return `"only" does not let it in: ${condition.reason}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
