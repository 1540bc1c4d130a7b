import { readYaml, Report, type YamlMapping } from "@steps/source";
import { expect } from "vitest";
import { decideJob, type JobDecision } from "../src/rules/decide.ts";
import { readJobRules } from "../src/rules/read-job-rules.ts";
import type { JobRules } from "../src/rules/rule.ts";
import type { RuleReport } from "../src/rules/rule-codes.ts";
import type { Situation } from "../src/rules/situation.ts";
import { collectVariables, type CollectedVariables, type Variable } from "../src/variables/collect-variables.ts";

/** A push to the branch main. */
export const PUSH: Situation = { source: "push", ref: "main", projectPath: "group/app" };

/** Variables of the settings of a project. */
export function variables(values: Readonly<Record<string, string | Variable>>): CollectedVariables {
  const entries = Object.entries(values).map(
    ([name, value]) => [name, typeof value === "string" ? { value, isRaw: false } : value] as const,
  );
  return collectVariables({ project: new Map(entries) });
}

/** Reads the rules of a job with the problems that they have. */
export function read(text: string, hasWorkflowRules = false): { rules: JobRules; problems: readonly string[] } {
  const { documents, diagnostics } = readYaml({ name: "ci.yml", text }, { tags: ["!reference"] });
  expect(diagnostics).toEqual([]);
  const report: RuleReport = new Report();
  const rules = readJobRules(documents[0] as YamlMapping, { hasWorkflowRules }, report);
  const problems = report.finish().map(({ severity, code, message, position }) => {
    return `${severity} ${code} ${position?.line}:${position?.column}: ${message}`;
  });
  return { rules, problems };
}

export interface Given {
  readonly situation?: Partial<Situation>;
  readonly values?: Readonly<Record<string, string | Variable>>;
  readonly hasWorkflowRules?: boolean;
}

/** Decides a job whose rules have no problems. */
export function decide(
  text: string,
  { situation, values = {}, hasWorkflowRules = false }: Given = {},
): Promise<JobDecision> {
  const { rules, problems } = read(text, hasWorkflowRules);
  expect(problems).toEqual([]);
  return decideJob(rules, { situation: { ...PUSH, ...situation }, variables: variables(values) });
}

/** The same in one line. */
export async function verdict(text: string, given?: Given): Promise<string> {
  const { isIn, reason } = await decide(text, given);
  return `${isIn ? "in" : "out"}: ${reason}`;
}
