import type { JobRecordJson, PipelineTraceJson, RunStatusJson, StepRecordJson, TraceJson } from "@steps/proto";
import { listSteps } from "./list-steps.ts";
import { fullName } from "./pipeline/full-name.ts";
import { describeVal, formatDuration, timeOf } from "./show.ts";
import { MARKS } from "./tree-line.ts";

/** A row of the table, before it is escaped. */
interface Row {
  readonly status: RunStatusJson | undefined;
  readonly names: readonly string[];
  readonly time: string;
  readonly result: string;
}

/** The trace of a job in Markdown: a heading with its result, a table of its steps, what failed, and the outputs. */
export function formatTraceMarkdown(trace: TraceJson): string {
  const { root } = trace;
  const name = trace.request?.jobName ? `job ${trace.request.jobName}` : "job";
  const steps = [...listSteps(trace)];
  return [
    heading(root?.det?.status, name, root && timeOf(root)),
    table(steps.map(({ names, record }) => rowOf(record, names))),
    ...failure(root?.obs?.error?.message),
    ...outputsOf(trace),
  ].join("\n");
}

/** The trace of a pipeline in Markdown: a heading, and a table of its jobs with their steps. */
export function formatPipelineMarkdown({
  source = "",
  status,
  jobs = [],
  startedAt,
  finishedAt,
}: PipelineTraceJson): string {
  const rows = jobs.flatMap((job) => [...jobRows(job)]);
  return [heading(status, `pipeline ${source}`, between({ startedAt, finishedAt })), table(rows)].join("\n");
}

function* jobRows({
  name = "",
  caller = "",
  status,
  reason,
  instances = [],
  allowedFailure,
}: JobRecordJson): Generator<Row> {
  if (instances.length === 0) yield { status, names: [fullName(caller, name)], time: "", result: word(status, reason) };
  for (const instance of instances) {
    const names = [fullName(caller, instance.name ?? name)];
    const isAllowed = allowedFailure === true || instance.allowedFailure === true;
    const result = `${word(instance.status, instance.reason)}${isAllowed ? " (allowed)" : ""}`;
    yield { status: instance.status, names, time: between(instance), result };
    const trace = instance.attempts?.at(-1)?.trace;
    if (trace !== undefined) for (const step of listSteps(trace)) yield rowOf(step.record, [...names, ...step.names]);
  }
}

function rowOf(record: StepRecordJson, names: readonly string[]): Row {
  const { det, obs } = record;
  const code = det?.exitCode ? `, exit ${det.exitCode}` : "";
  const allowed = obs?.conclusion === "success" ? " (allowed)" : "";
  return {
    status: det?.status,
    names,
    time: timeOf(record) ?? "",
    result: `${word(det?.status, obs?.skipReason)}${code}${allowed}`,
  };
}

function word(status: RunStatusJson | undefined, reason = ""): string {
  const shown = status === undefined || status === "run_status_unspecified" ? "not started" : status;
  return reason === "" ? shown : `${shown}: ${reason}`;
}

function heading(status: RunStatusJson | undefined, name: string, time = ""): string {
  const facts = [word(status), ...(time === "" ? [] : [time])].join(", ");
  return `### ${MARKS[status ?? "run_status_unspecified"]} ${escape(name)}: ${facts}\n`;
}

function table(rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const lines = rows.map(({ status, names, time, result }) => {
    const shown = names.map(escape).join(" / ");
    return `| ${MARKS[status ?? "run_status_unspecified"]} | ${shown} | ${time} | ${escape(result)} |\n`;
  });
  return `|  | step | time | result |\n| --- | --- | --- | --- |\n${lines.join("")}`;
}

function failure(message: string | undefined): string[] {
  return message === undefined ? [] : [`${escape(message)}\n`];
}

function outputsOf(trace: TraceJson): string[] {
  const own = Object.entries(trace.root?.det?.outputs ?? {}).map(([name, val]) => ["", name, describeVal(val)]);
  const rows = [...listSteps(trace)].flatMap(({ names, record }) =>
    Object.entries(record.det?.outputs ?? {}).map(([name, val]) => [names.join(" / "), name, describeVal(val)]),
  );
  const all = [...own, ...rows];
  if (all.length === 0) return [];
  const lines = all.map((cells) => `| ${cells.map(escape).join(" | ")} |\n`);
  return [`| step | output | value |\n| --- | --- | --- |\n${lines.join("")}`];
}

function between({ startedAt, finishedAt }: { readonly startedAt?: string; readonly finishedAt?: string }): string {
  const ms = Date.parse(finishedAt ?? "") - Date.parse(startedAt ?? "");
  return Number.isFinite(ms) && ms >= 0 ? formatDuration(ms) : "";
}

/** A text on one line that no Markdown and no HTML is read in. */
function escape(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u2069]+/g, " ")
    .replaceAll(/[\\|`<>*_[\]#&!~@]/g, (sign) => (sign === "@" ? "@\u200B" : `\\${sign}`));
}
