import { basename } from "node:path";
import { escapePointer, canonicalJson } from "@steps/model/value";
import type { DeterministicJson, ResourceJson, StepRecordJson, TraceJson, ValJson } from "@steps/proto";
import type { CompareOptions, Difference, Severity } from "./compare.ts";
import { compareLogs, inlineLog } from "./compare-log.ts";
import { componentDigest } from "./fingerprint.ts";
import { stepLabel } from "./step-label.ts";

interface Sides {
  readonly expected: TraceJson;
  readonly actual: TraceJson;
  readonly countsDrift: boolean;
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
    differences.push({ path: record.path ?? "", step: stepLabel(record), pointer, kind, severity, ...shown });
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
  compareObservations({ expected, actual, sides, add });
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
  const commands = [before.command ?? [], after.command ?? []] as const;
  const [rest, otherRest] = commands.map((command) => canonicalJson(command.slice(1)));
  const hasOtherProgram = isBuiltin(before) && isBuiltin(after) && rest === otherRest;
  // The definition of a built-in step names its program, which is where this machine has it.
  const program = { kind: "tools", severity: sides.countsDrift ? "different" : "drift" } as const;
  compareTexts({ before, after, add }, [["subpath", "component"]]);
  const digests = { expected: before.definitionDigest ?? "", actual: after.definitionDigest ?? "" };
  if (digests.expected !== digests.actual) {
    if (hasOtherProgram) add("/det/definitionDigest", program.kind, { ...digests, severity: program.severity });
    else add("/det/definitionDigest", "definition", digests);
  }
  compareTexts({ before, after, add }, [["type", "definition"]]);
  compareVals({ before, after, add }, "inputs");
  compareVals({ before, after, add }, "env");
  compareTexts({ before, after, add }, [["workDir", "command"]]);
  if (canonicalJson(commands[0]) !== canonicalJson(commands[1])) {
    const found = { expected: JSON.stringify(commands[0]), actual: JSON.stringify(commands[1]) };
    if (hasOtherProgram) add("/det/command/0", program.kind, { ...found, severity: program.severity });
    else add("/det/command", "command", found);
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

interface Records {
  readonly expected: StepRecordJson;
  readonly actual: StepRecordJson;
  readonly sides: Sides;
  readonly add: Halves["add"];
}

function compareObservations({ expected, actual, sides, add }: Records): void {
  const path = expected.path ?? "";
  const severity = sides.countsDrift ? "different" : "drift";
  for (const stream of ["stdout", "stderr"] as const) {
    const given = [sides.logs?.("expected", path, stream), sides.logs?.("actual", path, stream)] as const;
    const isGiven = given[0] !== undefined && given[1] !== undefined;
    const texts = isGiven ? given : ([inlineLog(expected, sides.expected), inlineLog(actual, sides.actual)] as const);
    const found = compareLogs(
      { digest: expected.det?.[stream], text: texts[0] },
      { digest: actual.det?.[stream], text: texts[1] },
    );
    if (!found) continue;
    const { isNormalised, ...shown } = found;
    add(`/det/${stream}`, stream, { ...shown, severity: isNormalised && !sides.countsDrift ? "normalised" : severity });
  }
  const [before, after] = [toolsOf(expected, sides.expected), toolsOf(actual, sides.actual)];
  if (before.identity !== after.identity) {
    add("/det/tools", "tools", { expected: before.text, actual: after.text, severity });
  }
}

interface Tools {
  readonly text: string;
  readonly identity: string;
}

// The folder of a program does not matter. Its name does, because some programs act according to the name they are
// called by.
function toolsOf({ det }: StepRecordJson, trace: TraceJson): Tools {
  const tools = (det?.tools ?? []).map((index) => trace.resources?.[index]);
  const text = tools.map((tool) => `${tool?.uri ?? "?"} ${tool?.digest?.["sha256"] ?? ""}`.trim()).join(", ");
  const identity = canonicalJson(tools.map((tool) => [basename(tool?.uri ?? ""), tool?.digest?.["sha256"] ?? ""]));
  return { text, identity };
}

function isBuiltin({ reference }: DeterministicJson): boolean {
  return reference?.protocol === "dist";
}

function describeComponent(resource: ResourceJson | undefined): { readonly digest: string; readonly text: string } {
  if (!resource) return { digest: "", text: "none" };
  const digest = componentDigest(resource);
  const shown = typeof digest === "string" ? digest : canonicalJson(digest ?? {});
  const version = resource.requestedVersion ? `@${resource.requestedVersion}` : "";
  return { digest: shown, text: `${resource.uri ?? ""}${version} ${shown}` };
}

type TextKey = "subpath" | "type" | "workDir" | "status" | "exitCode" | "signal" | "delegateOf";

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
    for (const found of diffVals(pair, `/det/${field}/${escapePointer(name)}`)) {
      if (left-- === 0) break;
      add(found.pointer, field, found);
    }
  }
}

type Pointed = Found & { readonly pointer: string };

// Redacted values are compared only as redacted: the secrets of two runs may differ, and so may the reasons why they
// are secret.
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
  return reason === "too_large" ? `(too large: ${bytes ?? "?"} bytes, sha256 ${sha256 ?? "?"})` : "(redacted)";
}

function* diffJson({ expected, actual }: { expected: unknown; actual: unknown }, pointer: string): Generator<Pointed> {
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    for (const key of keys) {
      yield* diffJson(
        { expected: ownOf(expected, key), actual: ownOf(actual, key) },
        `${pointer}/${escapePointer(key)}`,
      );
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

function presence(record: StepRecordJson | undefined): string {
  return record ? `step "${stepLabel(record)}"` : "no step";
}

function clip(text: string): string {
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}
