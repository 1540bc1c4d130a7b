import type { YamlMapping, YamlNode } from "@steps/source";
import { readPsychScalar } from "../psych.ts";
import { readRules, readStartIn, readWhen } from "./read-rules.ts";
import { checkKeys, isMapping, readBoolean, readCondition, readString, readStrings, valueOf } from "./read-values.ts";
import type { AllowFailure, JobRules, PlacedText, Policy } from "./rule.ts";
import type { RuleReport } from "./rule-codes.ts";

const WHENS = ["on_success", "on_failure", "always", "manual", "delayed"];

/** Gives what a job that says nothing is in: pipelines of branches and tags, not those of merge requests. */
function defaultRefs(node: YamlNode): readonly PlacedText[] {
  return ["branches", "tags"].map((text) => ({ node, text }));
}

/**
 * Reads what a job says about when it is in the pipeline: `rules`, or `only` and `except`, and `when`, `start_in`, `allow_failure`,
 * `interruptible` and `needs`. What is wrong is reported.
 *
 * @param job - The job with everything that it inherits.
 * @param hasWorkflowRules - Whether the configuration has `workflow:rules`; then a job that says nothing is in every pipeline.
 */
export function readJobRules(
  job: YamlMapping,
  { hasWorkflowRules }: { readonly hasWorkflowRules: boolean },
  report: RuleReport,
): JobRules {
  const { entries } = job;
  const rulesNode = valueOf(entries, "rules");
  const when = readWhen(valueOf(entries, "when"), WHENS, report);
  return {
    rules: rulesNode && readRules(rulesNode, "job", report),
    ...readPolicies(job, rulesNode !== undefined || hasWorkflowRules, report),
    when: when ?? "on_success",
    startIn: rulesNode === undefined ? readStartIn(job, when, report) : undefined,
    allowFailure: readAllowFailure(valueOf(entries, "allow_failure"), report) ?? when === "manual",
    interruptible: readBoolean("interruptible", valueOf(entries, "interruptible"), report),
    needs: valueOf(entries, "needs"),
  };
}

function readPolicies(job: YamlMapping, hasRules: boolean, report: RuleReport): Pick<JobRules, "only" | "except"> {
  const only = valueOf(job.entries, "only");
  const except = valueOf(job.entries, "except");
  if (valueOf(job.entries, "rules") !== undefined) {
    for (const keyword of ["only", "except", "start_in"]) {
      const entry = job.entries.get(keyword);
      if (entry === undefined || valueOf(job.entries, keyword) === undefined) continue;
      report.error(entry.key, { code: "conflicting-keys", message: `"${keyword}" cannot stand beside "rules"` });
    }
    return {};
  }
  return {
    only: readOnly(job, { node: only, hasRules }, report),
    except: except && readPolicy("except", except, report),
  };
}

// Refs hold where `only` says nothing of them, whatever else it asks for.
function readOnly(
  job: YamlMapping,
  { node, hasRules }: { readonly node: YamlNode | undefined; readonly hasRules: boolean },
  report: RuleReport,
): Policy | undefined {
  if (node === undefined) return hasRules ? undefined : { node: job, isWritten: false, refs: defaultRefs(job) };
  const policy = readPolicy("only", node, report);
  return { ...policy, refs: policy.refs ?? defaultRefs(node) };
}

function readPolicy(keyword: "only" | "except", node: YamlNode, report: RuleReport): Policy {
  if (node.kind === "list") return { node, isWritten: true, refs: readStrings(keyword, node, report) };
  if (!isMapping(node)) {
    // A single ref is what the schema of GitLab takes besides.
    const ref = readString(keyword, node, report);
    return { node, isWritten: true, refs: ref && [ref] };
  }
  checkKeys(`"${keyword}"`, { node, known: ["refs", "variables", "changes", "kubernetes"] }, report);
  const list = (key: string): readonly PlacedText[] | undefined => {
    const value = valueOf(node.entries, key);
    return value && readStrings(`${keyword}:${key}`, value, report);
  };
  const kubernetes = readString(`${keyword}:kubernetes`, valueOf(node.entries, "kubernetes"), report);
  if (kubernetes !== undefined && kubernetes.text !== "active") {
    report.error(kubernetes.node, {
      code: "invalid-rules",
      message: `"kubernetes" takes no other value than "active"`,
    });
  }
  return {
    node,
    isWritten: true,
    refs: list("refs"),
    variables: list("variables")
      ?.map((text) => readCondition(text.node, report))
      .filter((condition) => condition !== undefined),
    changes: list("changes"),
    kubernetes: kubernetes?.node,
  };
}

function readAllowFailure(node: YamlNode | undefined, report: RuleReport): AllowFailure | undefined {
  if (node === undefined || !isMapping(node)) return readBoolean("allow_failure", node, report);
  checkKeys(`"allow_failure"`, { node, known: ["exit_codes"] }, report);
  const codes = valueOf(node.entries, "exit_codes");
  const items = codes?.kind === "list" ? codes.items : codes === undefined ? [] : [codes];
  const exitCodes = items.map((item) => {
    const scalar = item.kind === "scalar" && item.tag === undefined ? readPsychScalar(item) : undefined;
    return scalar?.kind === "integer" ? Number(scalar.text) : undefined;
  });
  if (codes === undefined || exitCodes.includes(undefined)) {
    report.error(codes ?? node, { code: "invalid-rules", message: `"exit_codes" is no exit code and no list of them` });
    return undefined;
  }
  return { exitCodes: exitCodes.filter((code) => code !== undefined) };
}
