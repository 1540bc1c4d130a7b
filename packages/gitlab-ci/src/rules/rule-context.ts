import type { YamlNode } from "@steps/source";
import type { CollectedVariables } from "../variables/collect-variables.ts";
import { expandKeyword } from "../variables/expand-keyword.ts";
import { expandVariables } from "../variables/expand-variables.ts";
import type { IfExplanation } from "./if/evaluate-if.ts";
import type { CompilePattern } from "./if/patterns.ts";
import type { PlacedText } from "./rule.ts";
import type { Situation } from "./situation.ts";

/** The facts and functions that rules are decided with. */
export interface RuleContext {
  readonly situation: Situation;
  /** The variables that rules see, not expanded. */
  readonly variables: CollectedVariables;
  /** Fills expanded variables into the text of a keyword. */
  readonly expand: (keyword: string, text: PlacedText) => FilledText;
  /** Fills variables that are not expanded themselves into the text of a keyword. */
  readonly expandOnce: (keyword: string, text: PlacedText) => FilledText;
  /** Gives the engine of patterns, which is loaded when it is asked for first. */
  readonly patterns: () => Promise<CompilePattern>;
}

/** A text after variables were filled in. */
export interface FilledText {
  readonly from: PlacedText;
  readonly text: string;
  /** The same to be shown: references to variables that are masked stand as they were written. */
  readonly shown: string;
}

/** Makes the context of the rules of one situation from its variables. */
export function createRuleContext(
  { situation, variables }: Pick<RuleContext, "situation" | "variables">,
  patterns: () => Promise<CompilePattern>,
): RuleContext {
  const secrets = [...variables.values()].filter(({ isMasked, value }) => isMasked === true && value !== "");
  const fill = (keyword: string, from: PlacedText, valueOf: (name: string) => string | undefined): FilledText => {
    const publicOf = (name: string): string | undefined => {
      const value = valueOf(name);
      return value !== undefined && secrets.some((secret) => value.includes(secret.value)) ? undefined : value;
    };
    const text = expandKeyword(keyword, from.text, valueOf);
    return { from, text, shown: secrets.length === 0 ? text : expandKeyword(keyword, from.text, publicOf) };
  };
  let expanded: Readonly<Record<string, string>> | undefined;
  const expandedOf = (name: string): string | undefined => {
    expanded ??= expandVariables(variables).values;
    return expanded[name];
  };
  return {
    situation,
    variables,
    expand: (keyword, text) => fill(keyword, text, expandedOf),
    expandOnce: (keyword, text) => fill(keyword, text, (name) => variables.get(name)?.value),
    patterns,
  };
}

/** A condition of a rule or policy, and whether it held. */
export interface ConditionOutcome {
  readonly kind: "if" | "changes" | "exists" | "refs" | "variables" | "kubernetes";
  readonly node: YamlNode;
  readonly holds: boolean;
  /** Why, the rest of a sentence: `src/a.ts matches src/**`. */
  readonly reason: string;
  /** The values of the parts of an `if`. Absent for other conditions. */
  readonly explanation?: IfExplanation | undefined;
}

/** A rule that cannot be decided: GitLab makes no pipeline then. */
export class RuleProblem extends Error {
  readonly node: YamlNode;

  /** @param message - Sentence case, no final period. */
  constructor(node: YamlNode, message: string) {
    super(message);
    this.name = "RuleProblem";
    this.node = node;
  }
}
