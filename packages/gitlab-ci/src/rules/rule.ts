import type { YamlNode } from "@steps/source";
import type { DeclaredVariable } from "../variables/read-variables.ts";
import type { ParsedIf } from "./if/parse-if.ts";

/** When a job of the pipeline starts, or `never` for one that is not in it. */
export type When = "on_success" | "on_failure" | "always" | "manual" | "delayed" | "never";

/** Whether a job may fail: always, never, or with these exit codes. */
export type AllowFailure = boolean | { readonly exitCodes: readonly number[] };

/** A condition with its place. */
export interface Condition {
  readonly node: YamlNode;
  readonly parsed: ParsedIf;
}

/** A text with its place. Variables are not filled in. */
export interface PlacedText {
  readonly node: YamlNode;
  readonly text: string;
}

/** `changes` or `exists` of a rule. */
export interface PathsCondition {
  readonly node: YamlNode;
  /** Patterns of which one has to match; at most 50. */
  readonly paths: readonly PlacedText[];
  /** A pattern of RE2 in place of `paths`. */
  readonly regexp?: PlacedText | undefined;
  /** The commit that changes are counted from; only of `changes`. */
  readonly compareTo?: PlacedText | undefined;
  /** The path of another project; only of `exists`. */
  readonly project?: PlacedText | undefined;
  /** The branch, tag or commit of that project; only of `exists`. */
  readonly ref?: PlacedText | undefined;
}

/** An item of `rules`. All of its conditions have to hold; one without conditions always matches. */
export interface Rule {
  readonly node: YamlNode;
  readonly condition?: Condition | undefined;
  readonly changes?: PathsCondition | undefined;
  readonly exists?: PathsCondition | undefined;
  /** The start of the job when the rule matches. Absent: as the job says. */
  readonly when?: When | undefined;
  /** How long a delayed job waits, as written: `30 minutes`. */
  readonly startIn?: string | undefined;
  readonly allowFailure?: boolean | undefined;
  readonly interruptible?: boolean | undefined;
  readonly variables?: ReadonlyMap<string, DeclaredVariable> | undefined;
  /** `needs` in place of the job's. */
  readonly needs?: YamlNode | undefined;
  /** `auto_cancel` of a rule of `workflow`. */
  readonly autoCancel?: YamlNode | undefined;
}

/** `only` or `except`: conditions of four kinds. `undefined` for a kind that is not asked for. */
export interface Policy {
  /** The value; of what holds without being written, the job. */
  readonly node: YamlNode;
  /** True for a policy that stands in the file, false for the one that holds by default. */
  readonly isWritten: boolean;
  readonly refs?: readonly PlacedText[] | undefined;
  readonly variables?: readonly Condition[] | undefined;
  readonly changes?: readonly PlacedText[] | undefined;
  /** `kubernetes: active`. */
  readonly kubernetes?: YamlNode | undefined;
}

/** The keywords of a job that decide whether it is in the pipeline and how it starts. */
export interface JobRules {
  /** `undefined` for a job without `rules`. */
  readonly rules?: readonly Rule[] | undefined;
  readonly only?: Policy | undefined;
  readonly except?: Policy | undefined;
  /** `on_success` unless the job says otherwise. */
  readonly when: When;
  readonly startIn?: string | undefined;
  /** True for a job with `when: manual`, false for others, unless the job says otherwise. */
  readonly allowFailure: AllowFailure;
  readonly interruptible?: boolean | undefined;
  readonly needs?: YamlNode | undefined;
}
