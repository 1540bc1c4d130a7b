import type { DiagnosticRule } from "@steps/model/diagnostic";
import type { Report } from "@steps/source";

/** The codes of diagnostics about rules and conditions. */
export type RuleCode = "doubtful-condition" | "invalid-condition" | "invalid-rules";

/** Gathers what is to be said about the rules of a pipeline or a job. */
export type RuleReport = Report<RuleCode | "invalid-variables" | "unquoted-date">;

/** The meaning of each code, and advice on what to do. */
export const RULE_RULES: Readonly<Record<RuleCode, DiagnosticRule>> = {
  "doubtful-condition": {
    title: "A condition hardly means what it says",
    help: "GitLab takes it, and gives a result that surprises. The message says which part is meant.",
  },
  "invalid-condition": {
    title: "A condition cannot be read",
    help: 'A condition compares variables with texts, patterns and `null`: `$CI_COMMIT_BRANCH == "main" && $TAG =~ /^v/`.',
  },
  "invalid-rules": {
    title: "Rules are malformed",
    help: "`rules` is a list of mappings with `if`, `changes`, `exists` and what follows from them, such as `when`.",
  },
};
