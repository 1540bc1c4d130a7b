import { childOf, Report, type YamlNode } from "@steps/source";
import { nearest, quote } from "@steps/model/diagnostic";
import type { GithubCode, GithubDiagnostic } from "../action-rules.ts";
import { literalOf, scalarText } from "../reading/texts.ts";
import type { Reading } from "../reading/reading.ts";
import type { JobEntry } from "../workflow/workflow-file.ts";
import type { CallableWorkflow, DeclaredName } from "./callable.ts";
import { parseWorkflowReference, type WorkflowReference } from "./workflow-reference.ts";

/** A job that calls another workflow, before anything of it is evaluated. */
export interface WorkflowCall {
  readonly jobId: string;
  readonly reference: WorkflowReference;
  /** Compares the call with what the workflow takes; without one the workflow cannot be called. */
  readonly check: (callable: CallableWorkflow | undefined) => readonly GithubDiagnostic[];
  /** A diagnostic at the place of `uses`: the workflow cannot be had. */
  readonly missing: (message: string, hint?: string) => GithubDiagnostic;
}

/** Reads the call of a job. `undefined`: it makes none, or `uses` is malformed, which was reported. */
export function readWorkflowCall(reading: Reading, job: JobEntry): WorkflowCall | undefined {
  const node = childOf(job.value, "uses");
  if (node === undefined) return undefined;
  const text = literalOf(reading, node, `"uses" of the job`);
  if (text === undefined) return undefined;
  const reference = parseWorkflowReference(text);
  if ("message" in reference) {
    reading.report.error(node, { code: "invalid-call", ...reference });
    return undefined;
  }
  const one = (at: YamlNode, message: string, hint?: string): GithubDiagnostic => {
    const report = new Report<GithubCode, GithubDiagnostic["code"]>();
    report.error(at, { code: "invalid-call", message, hint });
    return report.finish()[0] as GithubDiagnostic;
  };
  return {
    jobId: job.id,
    reference,
    check: (callable) => checkCall(job, node, { text, callable }),
    missing: (message, hint) => one(node, message, hint),
  };
}

interface Called {
  readonly text: string;
  readonly callable: CallableWorkflow | undefined;
}

function checkCall({ value }: JobEntry, uses: YamlNode, { text, callable }: Called): readonly GithubDiagnostic[] {
  const report = new Report<GithubCode, GithubDiagnostic["code"]>();
  if (callable === undefined) {
    const hint = "Add workflow_call to the events of that workflow.";
    report.error(uses, { code: "invalid-call", message: `The workflow ${quote(text)} cannot be called`, hint });
    return report.finish();
  }
  const secrets = childOf(value, "secrets");
  const inherits = secrets?.kind === "scalar" && scalarText(secrets) === "inherit";
  checkNames(report, uses, { what: "input", given: childOf(value, "with"), declared: callable.inputs });
  if (!inherits) checkNames(report, uses, { what: "secret", given: secrets, declared: callable.secrets });
  return report.finish();
}

interface Names {
  readonly what: "input" | "secret";
  readonly given: YamlNode | undefined;
  readonly declared: readonly DeclaredName[];
}

// GitHub does not tell names apart by their case.
function checkNames(report: Report<GithubCode>, uses: YamlNode, { what, given, declared }: Names): void {
  const entries = given?.kind === "mapping" ? [...given.entries] : [];
  const known = new Set(declared.map(({ name }) => name.toLowerCase()));
  for (const [name, { key }] of entries) {
    if (known.has(name.toLowerCase())) continue;
    const names = declared.map((one) => one.name);
    const near = nearest(name, names);
    const others = names.length === 0 ? `It takes no ${what}s.` : `It takes ${names.slice(0, 20).join(", ")}.`;
    const hint = near === undefined ? others : `Did you mean "${near}"?`;
    const code = what === "input" ? "unknown-workflow-input" : "invalid-call";
    report.error(key, { code, message: `The workflow has no ${what} ${quote(name)}`, hint });
  }
  const names = new Set(entries.map(([name]) => name.toLowerCase()));
  for (const { name, isRequired } of declared) {
    if (!isRequired || names.has(name.toLowerCase())) continue;
    const code = what === "input" ? "missing-workflow-input" : "invalid-call";
    const hint = what === "input" ? "Give it in with." : "Give it in secrets, or write secrets: inherit.";
    report.error(uses, { code, message: `The workflow requires the ${what} ${quote(name)}`, hint });
  }
}
