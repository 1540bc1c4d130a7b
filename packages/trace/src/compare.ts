import { checkOptionNames, type OptionNames } from "@steps/model";
import type { StepRecordJson, TraceJson } from "@steps/proto";
import { unescapePointer } from "@steps/model/value";
import { stepLabel } from "./step-label.ts";
import { compareSteps } from "./compare-step.ts";
import { compareRuntime } from "./compare-runtime.ts";

/** Something that two traces do not agree on. */
export interface Difference {
  /** The path of the step: `0/2`; empty for the job. */
  readonly path: string;
  /** The step's name, `#N` for the N-th of its list when it has none, empty for the job. */
  readonly step: string;
  /** JSON Pointer into the step's record, or into the trace for its runtime. */
  readonly pointer: string;
  /** `step`, `component`, `definition`, `inputs`, `env`, `command`, `status`, `outputs`, `stdout`, `tools`, `runtime`, … */
  readonly kind: string;
  readonly severity: Severity;
  readonly expected: string;
  readonly actual: string;
  /** `downstream of step "a"`: an earlier difference that may explain this one. */
  readonly cause?: string;
}

/** `different`: it is another result. `drift`: a warning. `normalised`: equal but for times, addresses and the like. */
export type Severity = "different" | "drift" | "normalised";

/** The verdict on a comparison: `identical`, or the gravest of its differences. */
export type Verdict = "identical" | Severity;

/** The verdict on one step. */
export interface StepVerdict {
  readonly path: string;
  readonly step: string;
  /** `not-run`: the actual trace has no such step. */
  readonly verdict: Verdict | "not-run";
}

/** The result of `compareTraces()`. */
export interface Comparison {
  readonly verdict: Verdict;
  /**
   * The steps in the order of the expected trace. Steps that only the actual trace has are at the end of their list.
   */
  readonly steps: readonly StepVerdict[];
  /** The differences in the order in which they arose: the first may explain those that follow. */
  readonly differences: readonly Difference[];
  /** Differences that `ignore` names. They count for nothing, and are not hidden. */
  readonly ignored: readonly Difference[];
}

/** The options of `compareTraces()`. */
export interface CompareOptions {
  /** When true, a drift counts as a difference: logs, tools and runtime must be equal too. Default: false. */
  readonly countsDrift?: boolean;
  /**
   * The differences to ignore: `KIND`, `KIND.NAME` or `KIND.STEP.NAME` with `*` for any one part, as in `env.HOSTNAME`,
   * `outputs.build.time`, `stdout.test`.
   */
  readonly ignore?: readonly string[];
  /**
   * The text of a step's log, where it is at hand: then it is compared without times, addresses and the like. Short logs
   * are in the traces, and need not be given.
   */
  readonly logs?: (side: "expected" | "actual", stepPath: string, stream: "stdout" | "stderr") => string | undefined;
}

const OPTION_NAMES: OptionNames<CompareOptions> = { countsDrift: true, ignore: true, logs: true };

/** Compares a run with the one that it was meant to repeat. The rules are in docs/reference/trace.md. */
export function compareTraces(expected: TraceJson, actual: TraceJson, options: CompareOptions = {}): Comparison {
  checkOptionNames("compareTraces()", options, OPTION_NAMES);
  const countsDrift = options.countsDrift === true;
  const found = [
    ...compareSteps({ expected, actual, countsDrift, ...(options.logs ? { logs: options.logs } : {}) }),
    ...compareRuntime(expected.runtime ?? {}, actual.runtime ?? {}, { countsDrift }),
  ];
  const patterns = (options.ignore ?? []).map((pattern) => pattern.split("."));
  const ignored: Difference[] = [];
  const differences: Difference[] = [];
  for (const difference of found) {
    if (patterns.some((pattern) => isNamedBy(difference, pattern))) ignored.push(difference);
    else differences.push(difference);
  }
  const steps = [...stepVerdicts(expected.root, actual.root, differences)];
  return { verdict: worst(differences), steps, differences: withCauses(differences), ignored };
}

function isNamedBy({ kind, step, pointer }: Difference, [first, ...rest]: readonly string[]): boolean {
  const names = pointer.split("/").slice(3).map(unescapePointer);
  const begins = (parts: readonly string[]): boolean =>
    rest.length <= parts.length && rest.every((part, index) => part === "*" || part === parts[index]);
  return (first === "*" || first === kind) && (begins(names) || begins([step, ...names]));
}

function worst(differences: readonly Difference[]): Verdict {
  for (const severity of ["different", "drift", "normalised"] as const) {
    if (differences.some((difference) => difference.severity === severity)) return severity;
  }
  return "identical";
}

function withCauses(differences: readonly Difference[]): Difference[] {
  const first = differences.find(({ severity }) => severity === "different");
  const start = first === undefined ? -1 : differences.indexOf(first);
  return differences.map((difference, index) => {
    const isDownstream =
      first !== undefined && index > start && difference.path !== first.path && difference.kind !== "runtime";
    return isDownstream ? { ...difference, cause: `downstream of ${describeStep(first)}` } : difference;
  });
}

function describeStep({ path, step }: Difference): string {
  if (path === "") return "the job";
  return `step "${step}"`;
}

function* stepVerdicts(
  expected: StepRecordJson | undefined,
  actual: StepRecordJson | undefined,
  differences: readonly Difference[],
): Generator<StepVerdict> {
  const record = expected ?? actual;
  if (!record) return;
  const path = record.path ?? "";
  const own = differences.filter((difference) => difference.path === path && difference.kind !== "runtime");
  yield { path, step: stepLabel(record), verdict: actual === undefined ? "not-run" : worst(own) };
  const count = Math.max(expected?.children?.length ?? 0, actual?.children?.length ?? 0);
  for (let i = 0; i < count; i++) yield* stepVerdicts(expected?.children?.[i], actual?.children?.[i], differences);
}
