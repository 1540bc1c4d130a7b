import { COMPILER_RULES } from "@steps/compiler";
import { CHECK_RULES } from "@steps/engine";
import { GITHUB_RULES } from "@steps/github-compiler";
import { CI_RULES } from "@steps/gitlab-ci";
import type { DiagnosticRule } from "@steps/model/diagnostic";
import { SOURCE_RULES } from "@steps/source";

const RULES: Readonly<Record<string, DiagnosticRule>> = {
  ...GITHUB_RULES,
  ...CI_RULES,
  ...CHECK_RULES,
  ...COMPILER_RULES,
  ...SOURCE_RULES,
};

/** Returns the meaning of a code, from the tables of the packages that report it. */
export function ruleOf(code: string): DiagnosticRule {
  return (Object.hasOwn(RULES, code) ? RULES[code] : undefined) ?? { title: code, help: "See the message." };
}
