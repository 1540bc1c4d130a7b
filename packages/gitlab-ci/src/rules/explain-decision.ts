import { checkOptionNames, type OptionNames } from "@steps/model";
import { printable } from "@steps/model/diagnostic";
import { spanPosition, type YamlNode } from "@steps/source";
import type { JobDecision, RuleOutcome } from "./decide.ts";
import type { IfExplanation, IfValue } from "./if/evaluate-if.ts";
import type { ConditionOutcome } from "./rule-context.ts";

/** The options of `explainDecision()`. */
export interface ExplainOptions {
  /** The name of the job; `The pipeline` in place of it where there is none. */
  readonly jobName?: string | undefined;
  /** Says whether the value of a variable must not be shown; by default every value is. */
  readonly isMasked?: ((name: string) => boolean) | undefined;
}

/** Longest value that is shown whole. */
const MAX_VALUE = 120;

const OPTION_NAMES: OptionNames<ExplainOptions> = { jobName: true, isMasked: true };

/**
 * Tells a decision in lines of text without their ends: the outcome and why, then each rule that was looked at with its place, its
 * conditions and the values that they saw, then how the job starts. No line holds a character that drives a terminal.
 */
export function explainDecision(decision: JobDecision, options: ExplainOptions = {}): readonly string[] {
  checkOptionNames("explainDecision()", options, OPTION_NAMES);
  const { isIn, reason, by, rules, policies } = decision;
  const { jobName } = options;
  const subject = jobName === undefined ? "The pipeline" : `The job "${jobName}"`;
  const verb =
    jobName === undefined ? (isIn ? "runs" : "does not run") : isIn ? "is in the pipeline" : "is not in the pipeline";
  const place = by.kind === "problem" ? ` (${placeOf(by.node)})` : "";
  const lines = [`${subject} ${verb}: ${reason}${place}.`];
  for (const rule of rules) lines.push(...explainRule(rule, options));
  for (const { keyword, conditions } of policies) {
    for (const condition of conditions)
      lines.push(...explainCondition(condition, `${keyword}:${condition.kind}`, options));
  }
  if (isIn && jobName !== undefined) lines.push(...explainStart(decision));
  return lines.map((line) => printable(line));
}

function explainRule({ rule, index, matches, conditions }: RuleOutcome, options: ExplainOptions): readonly string[] {
  const outcome = matches ? "matches" : "does not match";
  const lines = [
    `  rule ${index + 1} (${placeOf(rule.node)}) ${outcome}${conditions.length === 0 && matches ? ": it has no condition" : ""}`,
  ];
  for (const condition of conditions) {
    lines.push(...explainCondition(condition, condition.kind, options).map((line) => `  ${line}`));
  }
  return lines;
}

function explainCondition(
  { holds, reason, explanation }: ConditionOutcome,
  label: string,
  options: ExplainOptions,
): readonly string[] {
  const sign = holds ? "yes" : "no";
  if (explanation === undefined) return [`  ${label}: ${sign}, ${reason}`];
  const lines = [`  ${label}: ${sign}, ${oneLine(explanation.text)}`];
  const seen = new Set<string>();
  for (const line of values(explanation, options)) {
    if (seen.has(line)) continue;
    seen.add(line);
    lines.push(`    ${line}`);
  }
  return lines;
}

/** Each variable with the value it had, and each comparison with its outcome, in the order of the text. */
function* values(part: IfExplanation, options: ExplainOptions): Generator<string> {
  if (part.value === undefined) {
    yield `${oneLine(part.text)} was not looked at`;
    return;
  }
  if (part.variable !== undefined) {
    const isHidden = part.value !== null && options.isMasked?.(part.variable) === true;
    yield `$${part.variable} is ${isHidden ? "[MASKED]" : formatValue(part.value)}`;
  }
  for (const inner of part.parts) yield* values(inner, options);
  if (part.note !== undefined) yield `${oneLine(part.text)}: ${part.note}`;
}

function formatValue(value: IfValue): string {
  if (value === null) return "not set";
  if (typeof value === "boolean") return String(value);
  return value.length > MAX_VALUE ? `${JSON.stringify(value.slice(0, MAX_VALUE))}…` : JSON.stringify(value);
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_VALUE ? `${line.slice(0, MAX_VALUE)}…` : line;
}

function explainStart({ when, startIn, allowFailure, variables, interruptible }: JobDecision): readonly string[] {
  const lines = [`  when: ${when}${startIn === undefined ? "" : ` in ${startIn}`}`];
  if (typeof allowFailure === "object")
    lines.push(`  allow_failure: with exit codes ${allowFailure.exitCodes.join(", ")}`);
  else if (allowFailure) lines.push("  allow_failure: true");
  if (interruptible !== undefined) lines.push(`  interruptible: ${interruptible}`);
  if (variables.size > 0) lines.push(`  variables of the rule: ${[...variables.keys()].join(", ")}`);
  return lines;
}

function placeOf(node: YamlNode): string {
  const { source, line } = spanPosition(node);
  return `${source.name}:${line}`;
}
