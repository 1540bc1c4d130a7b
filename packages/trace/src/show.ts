import { checkOptionNames, type OptionNames } from "@steps/model";
import { shortDigest } from "@steps/model/digest";
import { recordedKindOf } from "@steps/model/kinds";
import type { Observed_AnnotationJson, ResourceJson, StepRecordJson, TraceJson, ValJson } from "@steps/proto";
import { shownLabel } from "./shown-label.ts";
import {
  colorOf,
  DIM,
  formatLines,
  type FormatOptions,
  innerLead,
  type Line,
  MARKS,
  type Rails,
  railsOf,
  RED,
  YELLOW,
} from "./tree-line.ts";
import { plainValue } from "./plain.ts";

const MAX_VALUE_LENGTH = 200;

const OPTION_NAMES: OptionNames<FormatOptions> = { width: true, hasColor: true };

/**
 * A trace for people: the tree of steps with marks, durations, components, outputs and what failed. Ends with a line
 * feed. Control characters and direction marks of foreign texts are shown, never sent to the terminal.
 */
export function formatTrace(trace: TraceJson, options: FormatOptions): string {
  checkOptionNames("formatTrace()", options, OPTION_NAMES);
  const lines: Line[] = [];
  const { root } = trace;
  if (root) {
    const name = trace.request?.jobName ? `job ${trace.request.jobName}` : "job";
    lines.push(...stepLines({ record: { ...root, name }, trace, lead: "", below: "" }));
  }
  for (const note of trace.notes ?? []) lines.push({ lead: "", text: note, color: YELLOW });
  const core = trace.fingerprints?.core;
  const facts = [
    ...(trace.traceId ? [`trace ${trace.traceId}`] : []),
    ...(core ? [`fingerprint ${shortDigest(core)}`] : []),
    ...(trace.integrity?.recovered === true ? ["recovered from a journal"] : []),
  ];
  if (facts.length > 0) lines.push({ lead: "", text: facts.join(", "), color: DIM });
  return formatLines(lines, options);
}

/** A step with the rails before its lines. */
export interface Branch extends Rails {
  readonly record: StepRecordJson;
  readonly trace: TraceJson;
}

/** The lines of a step and of those below it. */
export function* stepLines({ record, trace, lead, below }: Branch): Generator<Line> {
  const { det = {}, obs = {}, children = [] } = record;
  const status = det.status ?? "run_status_unspecified";
  yield { lead, mark: MARKS[status], text: describeStep(record, trace), color: colorOf(status) };
  const inner = innerLead(below, children.length > 0);
  for (const [name, val] of Object.entries(det.outputs ?? {})) {
    yield { lead: inner, text: `${name} = ${describeVal(val)}`, color: DIM };
  }
  // The message of the step that failed says all; those around it only repeat it.
  const isExplained = children.some((child) => child.obs?.error);
  if (obs.error && !isExplained) yield { lead: inner, text: obs.error.message ?? obs.error.code ?? "", color: RED };
  for (const annotation of obs.annotations ?? []) {
    yield { lead: inner, text: describeAnnotation(annotation), color: annotation.level === "error" ? RED : YELLOW };
  }
  if (obs.skipReason) yield { lead: inner, text: obs.skipReason, color: DIM };
  for (const [index, child] of children.entries()) {
    yield* stepLines({ record: child, trace, ...railsOf(below, index === children.length - 1) });
  }
}

function describeStep(record: StepRecordJson, trace: TraceJson): string {
  const { det, obs } = record;
  const status = det?.status ?? "run_status_unspecified";
  const code = det?.exitCode === undefined || det.exitCode === 0 ? "" : `exit ${det.exitCode}`;
  const resource = det?.component === undefined ? undefined : trace.resources?.[det.component];
  const parts = [
    shownLabel({ ...record, reference: det?.reference }),
    timeOf(record) ?? "",
    status === "success" ? "" : status === "run_status_unspecified" ? "unknown" : status,
    obs?.conclusion === "success" ? "(allowed)" : "",
    code,
    det?.signal ?? "",
    resource ? describeResource(resource) : "",
  ];
  return parts.filter((part) => part !== "").join("  ");
}

/** The time that a step took. A step that was skipped or did not end took none. */
export function timeOf({ det, obs }: StepRecordJson): string | undefined {
  if (det?.status === "skipped") return undefined;
  // A duration of less than a tick of the clock is not written.
  const ms = obs?.durationMs ?? (obs?.finishedAt === undefined ? undefined : 0);
  return ms === undefined ? undefined : formatDuration(Number(ms));
}

function describeResource({ kind = "binary", uri, requestedVersion, digest }: ResourceJson): string {
  const mark = (version: string) => recordedKindOf({ kind })?.mark(version) ?? `@${version}`;
  const version = requestedVersion ? mark(requestedVersion) : "";
  const tree = digest?.["gitTree"] ?? digest?.["sha256"];
  return `${uri ?? ""}${version}${tree ? ` (${shortDigest(tree)})` : ""}`;
}

function describeAnnotation({
  level = "",
  message = "",
  file = "",
  title = "",
  line,
}: Observed_AnnotationJson): string {
  const place = file === "" ? "" : ` ${file}${line === undefined ? "" : `:${line}`}:`;
  return `${level}:${place}${title === "" ? "" : ` ${title}:`} ${message}`;
}

/** A value in one line of a bounded length. */
export function describeVal(val: ValJson): string {
  const value = plainValue(val);
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH)}…`;
}

/** A time in milliseconds for people: `85ms`, `3.2s`, `4m05s`. */
export function formatDuration(ms: number): string {
  // Rounded before the unit is chosen: 999.7 ms are not 1000ms, nor 59.96 s 60.0s.
  if (Math.round(ms) < 1000) return `${Math.round(ms)}ms`;
  const seconds = (ms / 1000).toFixed(1);
  if (Number(seconds) < 60) return `${seconds}s`;
  const wholeSeconds = Math.floor(Math.max(ms, 60_000) / 1000);
  return `${Math.floor(wholeSeconds / 60)}m${String(wholeSeconds % 60).padStart(2, "0")}s`;
}
