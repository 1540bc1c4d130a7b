import { checkOptionNames, type OptionNames } from "@steps/model";
import { shortDigest } from "@steps/model/digest";
import type {
  AttemptJson,
  InstanceRecordJson,
  JobRecordJson,
  PipelineTraceJson,
  RunStatusJson,
  ValJson,
} from "@steps/proto";
import { describeVal, formatDuration, stepLines } from "../show.ts";
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
} from "../tree-line.ts";
import { fullName } from "./full-name.ts";

/** A node of the tree: its own line, the lines that tell of it, and what is below. */
interface Node {
  readonly status: RunStatusJson | undefined;
  readonly parts: readonly string[];
  readonly details: readonly Omit<Line, "lead">[];
  readonly children: readonly Below[];
}

/** Gives the lines of a child, behind its rails. */
type Below = (rails: Rails) => Iterable<Line>;

const OPTION_NAMES: OptionNames<FormatOptions & { readonly job?: string }> = { width: true, hasColor: true, job: true };

/**
 * The trace of a pipeline for people: its jobs in order with their results, times, outputs and reasons, below each its instances,
 * attempts and steps. Ends with a line feed. `job`: only the jobs and instances of this name.
 */
export function formatPipelineTrace(
  trace: PipelineTraceJson,
  options: FormatOptions & { readonly job?: string },
): string {
  checkOptionNames("formatPipelineTrace()", options, OPTION_NAMES);
  const { source = "", status, startedAt, finishedAt, jobs = [], files = [], integrity } = trace;
  const { job: wanted } = options;
  const top = wanted === undefined ? jobs.filter(({ caller = "" }) => caller === "") : jobsNamed(jobs, wanted);
  const children = top.map((job) => jobNode(job, jobs));
  const lines: Line[] =
    wanted === undefined
      ? [
          ...nodeLines({
            status,
            parts: [`pipeline ${source}`, timeOf({ startedAt, finishedAt })],
            details: [],
            children,
          })({ lead: "", below: "" }),
        ]
      : children.flatMap((child) => [...child({ lead: "", below: "" })]);
  for (const note of trace.notes ?? []) lines.push({ lead: "", text: note, color: YELLOW });
  for (const { path = "", sha256 = "" } of files)
    lines.push({ lead: "", text: `file ${path} (${shortDigest(sha256)})`, color: DIM });
  const facts = [
    ...(trace.traceId ? [`trace ${trace.traceId}`] : []),
    ...(trace.fingerprints?.core ? [`fingerprint ${shortDigest(trace.fingerprints.core)}`] : []),
    ...(integrity?.recovered === true ? ["recovered from a journal"] : []),
  ];
  if (facts.length > 0) lines.push({ lead: "", text: facts.join(", "), color: DIM });
  return formatLines(lines, options);
}

/** The jobs that a name means: that of a job, or of an instance, alone or behind those that call its pipeline. */
export function jobsNamed(jobs: readonly JobRecordJson[], wanted: string): JobRecordJson[] {
  return jobs.flatMap((job) => {
    const { name = "", caller = "", instances = [] } = job;
    if (name === wanted || fullName(caller, name) === wanted) return [job];
    const named = instances.filter(({ name: instance = "" }) =>
      [instance, fullName(caller, instance)].includes(wanted),
    );
    return named.length === 0 ? [] : [{ ...job, instances: named }];
  });
}

function nodeLines({ status, parts, details, children }: Node): Below {
  return function* ({ lead, below }) {
    const shown = status ?? "run_status_unspecified";
    const word = shown === "success" ? "" : shown === "run_status_unspecified" ? "not started" : shown;
    const text = [...parts, word].filter((part) => part !== "").join("  ");
    yield { lead, mark: MARKS[shown], text, color: colorOf(shown) };
    const inner = innerLead(below, children.length > 0);
    for (const detail of details) yield { lead: inner, ...detail };
    for (const [index, child] of children.entries()) yield* child(railsOf(below, index === children.length - 1));
  };
}

function jobNode(job: JobRecordJson, all: readonly JobRecordJson[]): Below {
  const { name = "", caller = "", instances = [] } = job;
  const [only] = instances;
  const below = instances.map((instance) => instanceChildren(instance, caller, all));
  const isOne = only !== undefined && instances.length === 1;
  return nodeLines({
    status: job.status,
    parts: [
      isOne ? (only.name ?? name) : name,
      isOne ? timeOf(only) : "",
      job.allowedFailure === true ? "(allowed)" : "",
    ],
    details: detailsOf(job),
    children: isOne
      ? (below[0] ?? [])
      : instances.map((instance, index) =>
          nodeLines({
            status: instance.status,
            parts: [instance.name ?? "", timeOf(instance), instance.allowedFailure === true ? "(allowed)" : ""],
            details: detailsOf(instance),
            children: below[index] ?? [],
          }),
        ),
  });
}

// A pipeline that an instance calls, or the steps of its run; several runs each have a line.
function instanceChildren(
  { name = "", attempts = [] }: InstanceRecordJson,
  caller: string,
  all: readonly JobRecordJson[],
): Below[] {
  const called = all.filter((job) => job.caller === fullName(caller, name));
  const [only] = attempts;
  const runs = attempts.length === 1 && only ? stepsOf(only) : attempts.map(attemptNode);
  return [...called.map((job) => jobNode(job, all)), ...runs];
}

function attemptNode(attempt: AttemptJson, index: number): Below {
  const { status, trace } = attempt;
  const time = trace?.root?.obs?.durationMs;
  const parts = [`attempt ${index + 1}`, time === undefined ? "" : formatDuration(Number(time))];
  return nodeLines({ status, parts, details: [], children: stepsOf(attempt) });
}

function stepsOf({ trace }: AttemptJson): Below[] {
  const steps = trace?.root?.children ?? [];
  return steps.map((record) => (rails: Rails) => stepLines({ record, trace: trace ?? {}, ...rails }));
}

interface Ended {
  readonly status?: RunStatusJson;
  readonly reason?: string;
  readonly outputs?: Readonly<Record<string, ValJson>>;
}

function detailsOf({ status, reason, outputs = {} }: Ended): Omit<Line, "lead">[] {
  const lines = Object.entries(outputs).map(([name, val]) => ({ text: `${name} = ${describeVal(val)}`, color: DIM }));
  if (reason === undefined) return lines;
  return [...lines, { text: reason, color: status === "failure" ? RED : DIM }];
}

function timeOf({ startedAt, finishedAt }: { readonly startedAt?: string; readonly finishedAt?: string }): string {
  if (startedAt === undefined || finishedAt === undefined) return "";
  const ms = Date.parse(finishedAt) - Date.parse(startedAt);
  return Number.isFinite(ms) && ms >= 0 ? formatDuration(ms) : "";
}
