import type { LogDigestJson, StepRecordJson, TraceJson } from "@steps/proto";
import { normaliseLog } from "./normalise-log.ts";
import { createTokeniser } from "./tokenise.ts";

/** The facts about one stream of a step's output in one run. */
export interface LogSide {
  readonly digest: LogDigestJson | undefined;
  /** The stream, or the step's whole log, where it is at hand. */
  readonly text: string | undefined;
}

export interface LogFinding {
  readonly expected: string;
  readonly actual: string;
  readonly isNormalised: boolean;
}

// Runners put shorter ones than this into a trace.
const MAX_INLINE_LENGTH = 1024 * 1024;

/** The log that a trace holds of a step, with places named instead of paths. `undefined` if it was too long for that. */
export function inlineLog(record: StepRecordJson, trace: TraceJson): string | undefined {
  const { stdout, stderr } = record.det ?? {};
  const inline = record.obs?.log?.inline ?? "";
  if (inline === "") return isEmpty(stdout) && isEmpty(stderr) ? "" : undefined;
  if (inline.length > MAX_INLINE_LENGTH) return undefined;
  const { stepDir = "", jobTmp = "", outputFile = "", exportFile = "" } = record.obs?.places ?? {};
  const places = { workDir: trace.request?.workDir ?? "", stepDir, jobTmp, outputFile, exportFile };
  return createTokeniser(places).text(Buffer.from(inline, "base64").toString());
}

/** How two logs differ, `undefined` if they do not. A step without a log and one that wrote nothing are the same. */
export function compareLogs(expected: LogSide, actual: LogSide): LogFinding | undefined {
  if (isSameDigest(expected.digest, actual.digest)) return undefined;
  const [before, after] = [expected.text, actual.text];
  if (before === undefined || after === undefined || before === after) {
    const isNormalised = before !== undefined && before === after && hasSameLines(expected, actual);
    return { expected: describe(expected.digest), actual: describe(actual.digest), isNormalised };
  }
  const [plainBefore, plainAfter] = [normaliseLog(before), normaliseLog(after)];
  if (plainBefore !== plainAfter) return { ...firstDifference(plainBefore, plainAfter), isNormalised: false };
  return { ...firstDifference(before, after), isNormalised: hasSameLines(expected, actual) };
}

function isSameDigest(expected: LogDigestJson | undefined, actual: LogDigestJson | undefined): boolean {
  if (isEmpty(expected) || isEmpty(actual)) return isEmpty(expected) && isEmpty(actual);
  return expected?.bytes === actual?.bytes && expected?.sha256 === actual?.sha256;
}

function isEmpty(log: LogDigestJson | undefined): boolean {
  return (log?.bytes ?? "0") === "0";
}

// A whole log does not say which stream a line went to.
function hasSameLines(expected: LogSide, actual: LogSide): boolean {
  return (expected.digest?.lines ?? "0") === (actual.digest?.lines ?? "0");
}

function firstDifference(expected: string, actual: string): { readonly expected: string; readonly actual: string } {
  const [before, after] = [expected.split("\n"), actual.split("\n")];
  let index = 0;
  while (index < before.length && index < after.length && before[index] === after[index]) index += 1;
  const show = (lines: readonly string[]): string =>
    lines[index] === undefined ? `line ${index + 1}: (end)` : `line ${index + 1}: ${lines[index]}`;
  return { expected: show(before), actual: show(after) };
}

function describe(log: LogDigestJson | undefined): string {
  return log?.sha256 ? `${log.bytes ?? "0"} bytes, sha256 ${log.sha256}` : "nothing";
}
