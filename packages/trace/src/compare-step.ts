import { canonicalJson } from "@steps/model";
import type { DeterministicJson, LogDigestJson, ResourceJson, StepRecordJson, TraceJson, ValJson } from "@steps/proto";
import type { CompareOptions, Difference, Severity } from "./compare.ts";
import { componentDigest } from "./fingerprint.ts";
import { normaliseLog } from "./normalise-log.ts";

interface Sides {
  readonly expected: TraceJson;
  readonly actual: TraceJson;
  readonly isStrict: boolean;
  readonly logs?: NonNullable<CompareOptions["logs"]>;
}

const MAX_SHOWN_LENGTH = 300;
const MAX_DIFFERENCES_PER_VALUE = 20;
const EMPTY: DeterministicJson = {};

/** The differences of all steps, in the order in which they came to be: inputs, then children, then results. */
export function compareSteps(sides: Sides): Difference[] {
  const differences: Difference[] = [];
  compareRecords({ sides, expected: sides.expected.root, actual: sides.actual.root, differences });
  return differences;
}

interface Pair {
  readonly sides: Sides;
  readonly expected: StepRecordJson | undefined;
  readonly actual: StepRecordJson | undefined;
  readonly differences: Difference[];
}

function compareRecords({ sides, expected, actual, differences }: Pair): void {
  const record = expected ?? actual;
  if (!record) return;
  const add = (pointer: string, kind: string, found: Found): void => {
    const severity = found.severity ?? "different";
    const shown = { expected: clip(found.expected), actual: clip(found.actual) };
    differences.push({ path: record.path ?? "", step: record.name ?? "", pointer, kind, severity, ...shown });
  };
  if (!expected || !actual) {
    add("", "step", { expected: presence(expected), actual: presence(actual) });
    return;
  }
  const [before, after] = [expected.det ?? EMPTY, actual.det ?? EMPTY];
  if ((expected.name ?? "") !== (actual.name ?? "")) {
    add("/name", "step", { expected: expected.name ?? "", actual: actual.name ?? "" });
  }
  comparePlans({ before, after, sides, add });
  const count = Math.max(expected.children?.length ?? 0, actual.children?.length ?? 0);
  for (let i = 0; i < count; i++) {
    compareRecords({ sides, expected: expected.children?.[i], actual: actual.children?.[i], differences });
  }
  compareResults({ before, after, add });
  compareObservations({ before, after, sides, path: record.path ?? "", add });
}

interface Found {
  readonly expected: string;
  readonly actual: string;
  readonly severity?: Severity;
}

interface Halves {
  readonly before: DeterministicJson;
  readonly after: DeterministicJson;
  readonly add: (pointer: string, kind: string, found: Found) => void;
}

function comparePlans({ before, after, sides, add }: Halves & { readonly sides: Sides }): void {
  const expected = describeComponent(sides.expected.resources?.[before.component ?? -1]);
  const actual = describeComponent(sides.actual.resources?.[after.component ?? -1]);
  if (expected.digest !== actual.digest) {
    add("/det/component", "component", { expected: expected.text, actual: actual.text });
  }
  compareTexts({ before, after, add }, [
    ["subpath", "component"],
    ["definitionDigest", "definition"],
    ["type", "definition"],
  ]);
  compareVals({ before, after, add }, "inputs");
  compareVals({ before, after, add }, "env");
  compareTexts({ before, after, add }, [["workDir", "command"]]);
  const commands = [before.command ?? [], after.command ?? []] as const;
  if (canonicalJson(commands[0]) !== canonicalJson(commands[1])) {
    add("/det/command", "command", { expected: JSON.stringify(commands[0]), actual: JSON.stringify(commands[1]) });
  }
}

function compareResults(halves: Halves): void {
  compareTexts(halves, [
    ["status", "status"],
    ["exitCode", "exit-code"],
    ["signal", "signal"],
    ["delegateOf", "outputs"],
  ]);
  compareVals(halves, "outputs");
  compareVals(halves, "exports");
}

function compareObservations({
  before,
  after,
  sides,
  path,
  add,
}: Halves & { readonly sides: Sides; readonly path: string }): void {
  for (const stream of ["stdout", "stderr"] as const) {
    const [expected, actual] = [before[stream], after[stream]];
    if (isSameLog(expected, actual)) continue;
    const logs = [sides.logs?.("expected", path, stream), sides.logs?.("actual", path, stream)] as const;
    add(`/det/${stream}`, stream, compareLogs({ expected, actual, logs, isStrict: sides.isStrict }));
  }
  const [expected, actual] = [describeTools(before, sides.expected), describeTools(after, sides.actual)];
  if (expected !== actual)
    add("/det/tools", "tools", { expected, actual, severity: sides.isStrict ? "different" : "drift" });
}

// A step without a log, and one that wrote nothing, are the same.
function isSameLog(expected: LogDigestJson | undefined, actual: LogDigestJson | undefined): boolean {
  const bytes = (log: LogDigestJson | undefined): string => log?.bytes ?? "0";
  return bytes(expected) === bytes(actual) && (bytes(expected) === "0" || expected?.sha256 === actual?.sha256);
}

interface Logs {
  readonly expected: LogDigestJson | undefined;
  readonly actual: LogDigestJson | undefined;
  readonly logs: readonly [string | undefined, string | undefined];
  readonly isStrict: boolean;
}

function compareLogs({ expected, actual, logs, isStrict }: Logs): Found {
  const [before, after] = logs;
  if (before === undefined || after === undefined) {
    return { expected: describeLog(expected), actual: describeLog(actual), severity: isStrict ? "different" : "drift" };
  }
  const [plainBefore, plainAfter] = [normaliseLog(before), normaliseLog(after)];
  const isEqual = plainBefore === plainAfter;
  const line = isEqual ? firstDifference(before, after) : firstDifference(plainBefore, plainAfter);
  return { ...line, severity: isStrict ? "different" : isEqual ? "normalised" : "drift" };
}

function firstDifference(expected: string, actual: string): { readonly expected: string; readonly actual: string } {
  const [before, after] = [expected.split("\n"), actual.split("\n")];
  let index = 0;
  while (index < before.length && index < after.length && before[index] === after[index]) index += 1;
  const show = (lines: readonly string[]): string =>
    lines[index] === undefined ? `line ${index + 1}: (end)` : `line ${index + 1}: ${lines[index]}`;
  return { expected: show(before), actual: show(after) };
}

function describeLog(log: LogDigestJson | undefined): string {
  return log?.sha256 ? `${log.bytes ?? "0"} bytes, sha256 ${log.sha256}` : "nothing";
}

function describeTools(det: DeterministicJson, trace: TraceJson): string {
  const tools = (det.tools ?? []).map((index) => trace.resources?.[index]);
  return tools.map((tool) => `${tool?.uri ?? "?"} ${tool?.digest?.["sha256"] ?? ""}`.trim()).join(", ");
}

function describeComponent(resource: ResourceJson | undefined): { readonly digest: string; readonly text: string } {
  if (!resource) return { digest: "", text: "none" };
  const digest = componentDigest(resource);
  const shown = typeof digest === "string" ? digest : canonicalJson(digest ?? {});
  const version = resource.requestedVersion ? `@${resource.requestedVersion}` : "";
  return { digest: shown, text: `${resource.uri ?? ""}${version} ${shown}` };
}

type TextKey = "subpath" | "definitionDigest" | "type" | "workDir" | "status" | "exitCode" | "signal" | "delegateOf";

function compareTexts({ before, after, add }: Halves, fields: readonly (readonly [TextKey, string])[]): void {
  for (const [field, kind] of fields) {
    const [expected, actual] = [String(before[field] ?? ""), String(after[field] ?? "")];
    if (expected !== actual) add(`/det/${field}`, kind, { expected, actual });
  }
}

function compareVals({ before, after, add }: Halves, field: "inputs" | "env" | "outputs" | "exports"): void {
  const [expected, actual] = [before[field] ?? {}, after[field] ?? {}];
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)].toSorted());
  for (const name of names) {
    const pair = { expected: ownOf(expected, name), actual: ownOf(actual, name) };
    let left = MAX_DIFFERENCES_PER_VALUE;
    for (const found of diffVals(pair, `/det/${field}/${escape(name)}`)) {
      if (left-- === 0) break;
      add(found.pointer, field, found);
    }
  }
}

type Pointed = Found & { readonly pointer: string };

// What was redacted is compared by the reason only: the secrets of two runs may differ.
function* diffVals(
  { expected, actual }: { expected: ValJson | undefined; actual: ValJson | undefined },
  pointer: string,
): Generator<Pointed> {
  if (!expected || !actual || expected.redacted || actual.redacted) {
    const [before, after] = [describeVal(expected), describeVal(actual)];
    if (before !== after) yield { pointer, expected: before, actual: after };
    return;
  }
  yield* diffJson({ expected: expected.value ?? null, actual: actual.value ?? null }, pointer);
}

function describeVal(val: ValJson | undefined): string {
  if (!val) return "(absent)";
  if (!val.redacted) return canonicalJson(val.value ?? null);
  const { reason, bytes, sha256 } = val.redacted;
  return reason === "too_large"
    ? `(too large: ${bytes ?? "?"} bytes, sha256 ${sha256 ?? "?"})`
    : `(redacted: ${reason ?? "?"})`;
}

function* diffJson({ expected, actual }: { expected: unknown; actual: unknown }, pointer: string): Generator<Pointed> {
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    for (const key of keys) {
      yield* diffJson({ expected: ownOf(expected, key), actual: ownOf(actual, key) }, `${pointer}/${escape(key)}`);
    }
    return;
  }
  const show = (value: unknown): string => (value === undefined ? "(absent)" : canonicalJson(value));
  const [before, after] = [show(expected), show(actual)];
  if (before !== after) yield { pointer, expected: before, actual: after };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function escape(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function presence(record: StepRecordJson | undefined): string {
  return record ? `step "${record.name ?? ""}"` : "no step";
}

function clip(text: string): string {
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}
