import { shortDigest } from "@steps/model/digest";
import { recordedKindOf } from "@steps/model/kinds";
import type {
  Observed_AnnotationJson,
  ResourceJson,
  RunStatusJson,
  StepRecordJson,
  TraceJson,
  ValJson,
} from "@steps/proto";
import { stepLabel } from "./step-label.ts";
import { plainValue } from "./plain.ts";

/** The options of `formatTrace()`. */
export interface FormatOptions {
  /** Columns; longer lines are cut with `…`. */
  readonly width: number;
  readonly hasColor: boolean;
}

const MARKS: Readonly<Record<RunStatusJson, string>> = {
  run_status_unspecified: "?",
  running: "▶",
  success: "✓",
  failure: "✗",
  error: "!",
  timeout: "⧖",
  cancelled: "⊘",
  skipped: "-",
  interrupted: "…",
};

const RED = 31;
const GREEN = 32;
const YELLOW = 33;
const DIM = 2;
const MAX_VALUE_LENGTH = 200;

/** A line before it is cut and coloured. */
interface Line {
  readonly lead: string;
  readonly mark?: string;
  readonly text: string;
  readonly color?: number;
}

/**
 * A trace for people: the tree of steps with marks, durations, components, outputs and what failed. Ends with a line
 * feed. Control characters and direction marks of foreign texts are shown, never sent to the terminal.
 */
export function formatTrace(trace: TraceJson, options: FormatOptions): string {
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
  return lines.map((line) => `${render(line, options)}\n`).join("");
}

interface Branch {
  readonly record: StepRecordJson;
  readonly trace: TraceJson;
  /** The text before the step's own line; `below` is the text before the lines below it. */
  readonly lead: string;
  readonly below: string;
}

function* stepLines({ record, trace, lead, below }: Branch): Generator<Line> {
  const { det = {}, obs = {}, children = [] } = record;
  const status = det.status ?? "run_status_unspecified";
  yield { lead, mark: MARKS[status], text: describeStep(record, trace), color: colorOf(status) };
  const inner = children.length > 0 ? `${below}│ ` : `${below}  `;
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
    const isLast = index === children.length - 1;
    const rails = isLast
      ? { lead: `${below}└─ `, below: `${below}   ` }
      : { lead: `${below}├─ `, below: `${below}│  ` };
    yield* stepLines({ record: child, trace, ...rails });
  }
}

function describeStep(record: StepRecordJson, trace: TraceJson): string {
  const { det, obs } = record;
  const status = det?.status ?? "run_status_unspecified";
  const code = det?.exitCode === undefined || det.exitCode === 0 ? "" : `exit ${det.exitCode}`;
  const resource = det?.component === undefined ? undefined : trace.resources?.[det.component];
  const parts = [
    stepLabel(record),
    obs?.durationMs === undefined ? "" : formatDuration(Number(obs.durationMs)),
    status === "success" ? "" : status === "run_status_unspecified" ? "unknown" : status,
    obs?.conclusion === "success" ? "(allowed)" : "",
    code,
    det?.signal ?? "",
    resource ? describeResource(resource) : "",
  ];
  return parts.filter((part) => part !== "").join("  ");
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

function describeVal(val: ValJson): string {
  const value = plainValue(val);
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH)}…`;
}

/** A time in milliseconds for people: `85ms`, `3.2s`, `4m05s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`;
  return `${Math.floor(ms / 60_000)}m${String(Math.floor((ms % 60_000) / 1000)).padStart(2, "0")}s`;
}

function colorOf(status: RunStatusJson): number {
  if (status === "success") return GREEN;
  return status === "failure" || status === "error" || status === "timeout" ? RED : YELLOW;
}

function render({ lead, mark, text, color }: Line, { width, hasColor }: FormatOptions): string {
  const line = Array.from(`${lead}${mark === undefined ? "" : `${mark} `}${visible(text)}`);
  const cut = line.length <= width ? line.join("") : `${line.slice(0, Math.max(0, width - 1)).join("")}…`;
  if (!hasColor || color === undefined || cut.length <= lead.length) return cut;
  // A step's mark is coloured, any other line as a whole.
  const end = mark === undefined ? cut.length : lead.length + mark.length;
  return `${cut.slice(0, lead.length)}\u001b[${color}m${cut.slice(lead.length, end)}\u001b[0m${cut.slice(end)}`;
}

/** Control characters as their pictures, other invisible and direction characters as their numbers. */
function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u001f]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
    .replaceAll("\u007f", "\u2421")
    .replace(
      /[\u0080-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
