import type { CompilerDiagnostic } from "@steps/compiler";
import type { Diagnostic, DiagnosticRule } from "@steps/model/diagnostic";
import type { Report } from "@steps/source";
import { RULE_RULES, type RuleCode } from "./rules/rule-codes.ts";
import { LOAD_RULES, type LoadCode } from "./load/load-rules.ts";

/** The codes of diagnostics that only a `.gitlab-ci.yml` has; those of `@steps/source` come besides. */
export type CiCode =
  | LoadCode
  | "circular-needs"
  | "hidden-job"
  | "invalid-file"
  | "invalid-image"
  | "invalid-job"
  | "invalid-script"
  | "invalid-variables"
  | "late-needed-job"
  | "missing-script"
  | "unknown-job"
  | "unquoted-date"
  | "variable-cycle"
  | RuleCode;

/** A diagnostic of a configuration. The steps under `run` have those of the compiler. */
export type CiDiagnostic = Diagnostic<CiCode | CompilerDiagnostic["code"]>;

/** Gathers what is to be said about a file: in words of its own, and in those of all languages. */
export type CiReport = Report<CiDiagnostic["code"], CiDiagnostic["code"]>;

/** The meaning of each code, and advice on what to do. */
export const CI_RULES: Readonly<Record<CiCode, DiagnosticRule>> = {
  ...LOAD_RULES,
  "circular-needs": {
    title: "Jobs need each other",
    help: "None of them could ever start. Remove one of the needs that the message names.",
  },
  "hidden-job": { title: "The job is hidden", help: "A job whose name begins with a dot never runs. Choose another." },
  "invalid-file": {
    title: "The file is no configuration",
    help: "It is a mapping of keywords and jobs, with a header of inputs before it at most.",
  },
  "invalid-image": {
    title: "No image is named",
    help: "`image` and `services` name images, also once their variables are filled in: no blanks, and no dash in front.",
  },
  "invalid-job": { title: "A job or its inherit is malformed", help: "A job is a mapping with `script` or `run`." },
  "invalid-script": {
    title: "A script is no list of commands",
    help: "It is a string or a list of strings; a line with `: ` in it needs quotes.",
  },
  "invalid-variables": {
    title: "Variables are malformed",
    help: "`variables` maps names to texts, numbers, or `{value, description, options, expand}`.",
  },
  "late-needed-job": {
    title: "A job needs one of a later stage",
    help: "A job may need jobs of its own stage and of earlier ones.",
  },
  "missing-script": { title: "There is nothing to run", help: "Give the job `script` or `run`." },
  "unknown-job": { title: "There is no such job", help: "The hint has those that there are." },
  "unquoted-date": {
    title: "GitLab reads this as a date",
    help: "Its YAML makes a date of it, which changes the text. Quote it.",
  },
  "variable-cycle": { title: "Variables refer to one another in a circle", help: "Break the circle." },
  ...RULE_RULES,
};
