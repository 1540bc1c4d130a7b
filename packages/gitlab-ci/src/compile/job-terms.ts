import { childOf, Report, type YamlNode } from "@steps/source";
import type { CiDiagnostic, CiReport } from "../ci-rules.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { isList, isMapping } from "../load/nodes.ts";
import { readDuration } from "@steps/model/gitlab-duration";
import { readPsychScalar } from "../psych.ts";
import type { PatternParts } from "../rules/if/patterns.ts";
import type { JobDecision } from "../rules/decide.ts";
import type { AllowFailure } from "../rules/rule.ts";
import { expandKeyword } from "../variables/expand-keyword.ts";
import { readCoverage } from "./coverage.ts";

/** `retry`: how often a job that failed is tried again, and after which failures. */
export interface RetryTerms {
  /** 0, 1 or 2. */
  readonly max: number;
  /** The reasons for which it is tried again, as GitLab names them: `script_failure`; `always` for all of them. */
  readonly when: readonly string[];
  /** The exit codes after which it is tried again, besides `when`. */
  readonly exitCodes: readonly number[];
}

/** The terms on which a job runs, for whoever schedules it. */
export interface JobTerms {
  /** `timeout` in milliseconds: the time of the whole job. Absent for as long as it takes. */
  readonly timeoutMs: number | undefined;
  /** Whether the pipeline passes although the job fails: always, never, or with these exit codes. */
  readonly allowFailure: AllowFailure;
  /** Absent for a job that is tried once. */
  readonly retry: RetryTerms | undefined;
  /** `resource_group` with variables filled in; absent when no other job is waited for. */
  readonly resourceGroup: string | undefined;
  readonly isInterruptible: boolean;
  /** `coverage`: a pattern of RE2 for the lines of the output. Absent without one. */
  readonly coverage: PatternParts | undefined;
}

/** The facts that the terms of a job are read with. */
export interface JobTermsOptions {
  /** The job's variables, expanded. */
  readonly variables: Readonly<Record<string, string>>;
  /** The decision of the rules about the job, which may let it fail. Absent: as the job says itself. */
  readonly decision?: JobDecision | undefined;
}

/**
 * Reads the terms on which a job runs ([timeout](https://docs.gitlab.com/ci/yaml/#timeout),
 * [retry](https://docs.gitlab.com/ci/yaml/#retry), [coverage](https://docs.gitlab.com/ci/yaml/#coverage)). What is wrong is a
 * diagnostic with its place, and the term is as if it were not there.
 */
export function readJobTerms(
  job: LoadedJob,
  { variables, decision }: JobTermsOptions,
): { readonly terms: JobTerms; readonly diagnostics: readonly CiDiagnostic[] } {
  const report: CiReport = new Report();
  const nodeOf = (keyword: string): YamlNode | undefined => job.keywords.get(keyword)?.value;
  const group = textOf(nodeOf("resource_group"));
  const valueOf = (name: string): string | undefined => (Object.hasOwn(variables, name) ? variables[name] : undefined);
  const terms: JobTerms = {
    timeoutMs: readTimeout(nodeOf("timeout"), report),
    allowFailure: decision?.allowFailure ?? readAllowFailure(nodeOf("allow_failure")),
    retry: readRetry(nodeOf("retry")),
    resourceGroup: group && expandKeyword("resource_group", group, valueOf),
    isInterruptible: decision?.interruptible ?? textOf(nodeOf("interruptible")) === "true",
    coverage: readCoverage(nodeOf("coverage"), report),
  };
  return { terms, diagnostics: report.finish() };
}

/** `timeout` of a job in milliseconds; `undefined` without one, and for one that is no duration. */
export function readTimeoutMs(job: LoadedJob): number | undefined {
  return readTimeout(job.keywords.get("timeout")?.value, new Report());
}

function textOf(node: YamlNode | undefined): string | undefined {
  return node?.kind === "scalar" ? readPsychScalar(node).text : undefined;
}

function readTimeout(node: YamlNode | undefined, report: CiReport): number | undefined {
  const text = textOf(node);
  if (text === undefined) return undefined;
  const timeoutMs = readDuration(text);
  if (timeoutMs !== undefined && timeoutMs > 0) return timeoutMs;
  report.error(node, {
    code: "invalid-value",
    message: `"timeout" is no duration`,
    hint: "Write 90 minutes, 1h 30m or 3600.",
  });
  return undefined;
}

// The shapes of the others were checked when the pipeline was loaded.
function readAllowFailure(node: YamlNode | undefined): AllowFailure {
  const codes = node && childOf(node, "exit_codes");
  return codes === undefined ? textOf(node) === "true" : { exitCodes: numbersOf(codes) };
}

function readRetry(node: YamlNode | undefined): RetryTerms | undefined {
  if (node === undefined) return undefined;
  const mapping = isMapping(node) ? node : undefined;
  const max = mapping === undefined ? Number(textOf(node)) : Number(textOf(childOf(mapping, "max")) ?? 2);
  if (!(max > 0)) return undefined;
  const when = textsOf(childOf(mapping, "when"));
  const exitCodes = numbersOf(childOf(mapping, "exit_codes"));
  return { max, when: when.length === 0 && exitCodes.length === 0 ? ["always"] : when, exitCodes };
}

function textsOf(node: YamlNode | undefined): readonly string[] {
  if (isList(node)) return node.items.flatMap(textsOf);
  const text = textOf(node);
  return text === undefined ? [] : [text];
}

function numbersOf(node: YamlNode | undefined): readonly number[] {
  return textsOf(node).map(Number);
}
