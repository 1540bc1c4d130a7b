import type { StepResultJson, TraceJson } from "@steps/proto";
import { digestOf } from "@steps/platform";
import { TraceError } from "./error.ts";
import { fingerprintStep, fingerprintTrace } from "./fingerprint.ts";
import { FORMAT_VERSION } from "./encode-run.ts";
import { resultAsTrace } from "./result-as-trace.ts";
import { stepLabel } from "./step-label.ts";

const MAX_TEXT_LENGTH = 256 * 1024 * 1024;

// The keys that a reader looks for first stand first; all others follow in alphabetical order, so that the order is
// total.
const FIRST_KEYS = (
  "formatVersion traceId parentTraceId entry jobName source kind uri requestedVersion resolvedVersion path name reason " +
  "protocol url version type startedAt finishedAt status exitCode signal component subpath definitionDigest reference " +
  "command workDir inputs env outputs exports stdout stderr delegateOf tools coreFingerprint fullFingerprint " +
  "request runner runtime resources root det obs children fingerprints integrity notes"
).split(" ");
const RANKS: ReadonlyMap<string, number> = new Map(FIRST_KEYS.map((key, index) => [key, index]));

/** The text of a trace: indented JSON with a final line feed, in the same order for the same trace. */
export function encodeTrace(trace: TraceJson): string {
  return `${JSON.stringify(sortKeys(trace), null, 2)}\n`;
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const result = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value).toSorted(compareKeys)) {
    result[key] = sortKeys((value as Record<string, unknown>)[key]);
  }
  return result;
}

function compareKeys(a: string, b: string): number {
  const rank = (RANKS.get(a) ?? RANKS.size) - (RANKS.get(b) ?? RANKS.size);
  if (rank !== 0) return rank;
  return a < b ? -1 : 1;
}

/**
 * Reads the text of a trace, also of one written by a newer version: such a trace may be shown, not replayed.
 *
 * @throws {TraceError} TRACE_INVALID with the JSON pointer of what is wrong
 */
export async function decodeTrace(text: string): Promise<TraceJson> {
  // The schema is worth loading only here.
  const { readTrace } = await import("./decode.ts");
  return readTrace(text);
}

/**
 * Reads the text of a result tree, as GitLab's step runner and this one write it or in the shape of the blueprint.
 *
 * @throws {TraceError} TRACE_INVALID with the JSON pointer of what is wrong
 */
export async function decodeResult(text: string): Promise<StepResultJson> {
  const { readResult } = await import("./read-result.ts");
  return readResult(parseJson(text));
}

/**
 * Reads the text of a trace, or of a result tree: what can be shown.
 *
 * @throws {TraceError} TRACE_INVALID with the JSON pointer of what is wrong
 */
export async function decodeShown(text: string): Promise<TraceJson> {
  const json = parseJson(text) as Readonly<Record<string, unknown>> | null;
  const isTrace = typeof json !== "object" || json === null || "root" in json || "formatVersion" in json;
  if (isTrace || "format_version" in json) return decodeTrace(text);
  const { readResult } = await import("./read-result.ts");
  return resultAsTrace(readResult(json));
}

function parseJson(text: string): unknown {
  if (text.length > MAX_TEXT_LENGTH) throw new TraceError("TRACE_INVALID", "Cannot read result: the text is too long");
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TraceError("TRACE_INVALID", "Cannot read trace: the text is not JSON", { cause });
  }
}

/** A result in protobuf's text form, with the names of GitLab's schema. */
export async function encodePrototext(result: StepResultJson): Promise<string> {
  const { writePrototext } = await import("./prototext.ts");
  return writePrototext(result);
}

/** @throws {TraceError} VERSION_UNSUPPORTED when the trace may hold what this version would miss */
export function assertReplayable(trace: TraceJson): void {
  const version = trace.formatVersion ?? 0;
  if (version >= 1 && version <= FORMAT_VERSION) return;
  throw new TraceError(
    "VERSION_UNSUPPORTED",
    `Cannot replay trace: its format version is ${version}, at most ${FORMAT_VERSION} is known`,
    {
      hint: "Use the version of the runner that wrote it, or a newer one.",
    },
  );
}

/**
 * Returns the contradictions in a trace: fingerprints and digests that do not match its contents. Empty when there are
 * none.
 */
export function verifyTrace(trace: TraceJson): string[] {
  if (!trace.root) return ["The trace has no steps"];
  const problems = requestProblems(trace);
  const context = { resources: trace.resources ?? [], runtime: trace.runtime ?? {} };
  const visit = (record: NonNullable<TraceJson["root"]>): void => {
    const place = record.path === undefined ? "the job" : `step "${stepLabel(record)}" (${record.path})`;
    const { coreFingerprint, fullFingerprint, ...det } = record.det ?? {};
    const indexes = [...(det.tools ?? []), ...(det.component === undefined ? [] : [det.component])];
    if (indexes.some((index) => context.resources[index] === undefined)) {
      problems.push(`A component of ${place} is not in the list of resources`);
    }
    const { core, full } = fingerprintStep(det, context);
    if (coreFingerprint !== core) problems.push(`The record of ${place} does not match its fingerprint`);
    else if (fullFingerprint !== full)
      problems.push(`The logs, tools or runtime of ${place} do not match its full fingerprint`);
    record.children?.forEach(visit);
  };
  visit(trace.root);
  const { core, full } = fingerprintTrace(trace.root);
  if (trace.fingerprints?.core !== core || trace.fingerprints?.full !== full) {
    problems.push("The steps of the trace do not match its fingerprints");
  }
  return problems;
}

// A replay runs the request, so a trace whose steps are unchanged must not carry another request.
function requestProblems({ request, root, integrity }: TraceJson): string[] {
  const problems: string[] = [];
  if (integrity?.requestDigest !== (request && digestOf(request))) {
    problems.push("The request of the trace does not match its digest");
  }
  const recorded = root?.det?.definitionDigest;
  if (recorded !== undefined && request?.definition && recorded !== digestOf(request.definition)) {
    problems.push("The definition of the request is not the one that the job ran");
  }
  return problems;
}
