import type { PipelineTraceJson } from "@steps/proto";
import { encodeTrace, verifyTrace } from "../encode.ts";
import { TraceError } from "../error.ts";
import { fullName } from "./full-name.ts";
import { fingerprintPipeline } from "./pipeline-fingerprint.ts";
import { PIPELINE_FORMAT_VERSION } from "./encode-recorded-pipeline.ts";

/** The text of the trace of a pipeline, as `encodeTrace()` writes that of a run. */
export function encodePipelineTrace(trace: PipelineTraceJson): string {
  return encodeTrace(trace);
}

/** Whether a text is the trace of a pipeline, and not that of one run. */
export function isPipelineTrace(text: string): boolean {
  // Traces are large; most need not be parsed for this.
  if (!/"pipeline(?:FormatVersion|_format_version)"/.test(text)) return false;
  try {
    const json: unknown = JSON.parse(text);
    return (
      typeof json === "object" &&
      json !== null &&
      ("pipelineFormatVersion" in json || "pipeline_format_version" in json)
    );
  } catch {
    return false;
  }
}

/**
 * Reads the text of the trace of a pipeline, also of one written by a newer version: such a trace may be shown, not replayed.
 *
 * @throws {TraceError} TRACE_INVALID with the JSON pointer of what is wrong
 */
export async function decodePipelineTrace(text: string): Promise<PipelineTraceJson> {
  // The schema is worth loading only here.
  const { readPipelineTrace } = await import("../decode.ts");
  return readPipelineTrace(text);
}

/** @throws {TraceError} VERSION_UNSUPPORTED when the trace may hold what this version would miss */
export function assertPipelineReplayable({ pipelineFormatVersion: version = 0 }: PipelineTraceJson): void {
  if (version >= 1 && version <= PIPELINE_FORMAT_VERSION) return;
  throw new TraceError(
    "VERSION_UNSUPPORTED",
    `Cannot replay trace: its format version is ${version}, at most ${PIPELINE_FORMAT_VERSION} is known`,
    { hint: "Use the version of the runner that wrote it, or a newer one." },
  );
}

/**
 * Returns the contradictions in the trace of a pipeline: of itself, and of the runs in it, each behind the name of its instance.
 * Empty when there are none.
 */
export function verifyPipelineTrace({ jobs = [], fingerprints = {} }: PipelineTraceJson): string[] {
  const problems = jobs.flatMap(({ caller = "", instances = [] }) =>
    instances.flatMap(({ name = "", attempts = [] }) =>
      attempts.flatMap(({ trace }) =>
        trace === undefined ? [] : verifyTrace(trace).map((problem) => `${fullName(caller, name)}: ${problem}`),
      ),
    ),
  );
  const { core, full } = fingerprintPipeline(jobs);
  if (fingerprints.core !== core || fingerprints.full !== full)
    problems.push("The jobs of the trace do not match its fingerprints");
  return problems;
}
