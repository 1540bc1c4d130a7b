import {
  createObject,
  isSensitive,
  type RuntimeValue,
  sensitive,
  Sensitive,
  type Value,
  type ValueType,
} from "@steps/model";
import { NAME_PATTERN, type OutputSpec, type Spec } from "@steps/model/definition";
import { nearest } from "@steps/model/diagnostic";
import { findMalformed } from "@steps/model/utf8";
import { kindOf } from "../values/coerce.ts";
import { ExecuteError } from "../outcome/execute-error.ts";
import { importValue, parseJson } from "../values/json-value.ts";
import type { GrantedSecret } from "../run/level.ts";
import { decodeText, type OutputEntry, parseOutputFile } from "./output-file.ts";
import type { ReportLeak } from "../values/report-leak.ts";
import { secretWithinValue } from "../values/secrets.ts";

/** The outputs of a step, by name. */
export type Outputs = Readonly<Record<string, RuntimeValue>>;

const MAX_PROBLEMS = 10;

/** The outputs in a file that a step wrote, checked against its spec. @throws {ExecuteError} OUTPUT_INVALID */
export function readOutputs(content: Uint8Array, spec: Spec, options: LeakOptions = {}): Outputs {
  const declared = spec.outputs === "delegate" ? {} : spec.outputs;
  const { entries, problem } = parseOutputFile(content);
  if (problem) throw invalid([`line ${problem.line}: ${problem.message}`]);
  const values = createObject<RuntimeValue>();
  const problems: string[] = [];
  for (const entry of entries) {
    const value = valueOfEntry(entry, Object.hasOwn(declared, entry.name) ? declared[entry.name] : undefined);
    if (value === undefined) problems.push(`line ${entry.line}: ${describeUnreadable(entry, declared[entry.name])}`);
    else values[entry.name] = entry.kind === "json" && entry.isSensitive === true ? sensitive(value) : value;
  }
  return checkOutputs(values, spec, { problems, ...options });
}

/** The one result in protobuf's JSON that an exec step with delegated outputs writes. @throws {ExecuteError} */
export function readDelegatedOutputs(content: Uint8Array): Outputs {
  const malformed = findMalformed(content);
  if (malformed !== undefined) {
    const message = `outputs: delegate: line ${malformed.line} of the output file is not UTF-8: byte ${malformed.byte} begins no character`;
    throw new ExecuteError("DELEGATE_INVALID", message);
  }
  const parsed = parseJson(Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("utf8"));
  const outputs = isObject(parsed?.json) ? (parsed.json["outputs"] ?? {}) : undefined;
  const value = isObject(outputs) ? importValue(outputs) : undefined;
  if (value === undefined) {
    throw new ExecuteError("DELEGATE_INVALID", "outputs: delegate: the output file does not hold one step result");
  }
  return value as Outputs;
}

/**
 * Compares outputs with what the spec declares: unexpected, missing and mismatched ones are all named at once; defaults
 * are filled in and sensitive ones marked. @throws {ExecuteError} OUTPUT_INVALID
 */
export function checkOutputs(
  values: Outputs,
  spec: Spec,
  options: LeakOptions & { readonly problems?: readonly string[]; readonly isOpen?: boolean } = {},
): Outputs {
  const declared = spec.outputs === "delegate" ? {} : spec.outputs;
  const isOpen = options.isOpen === true || spec.hasOpenOutputs === true;
  const problems = [...(options.problems ?? [])];
  const result = createObject<RuntimeValue>();
  for (const name of Object.keys(values)) {
    if (Object.hasOwn(declared, name)) continue;
    const value = values[name] as RuntimeValue;
    // An undeclared output keeps its marks; only values that a process wrote have none.
    const leak = isOpen && !isSensitive(value) ? leakOf(name, value, options) : undefined;
    if (leak !== undefined && options.onLeak === undefined) problems.push(leak);
    else if (isOpen && NAME_PATTERN.test(name)) result[name] = leak === undefined ? value : noted(value, leak, options);
    else problems.push(unexpected(name, declared));
  }
  for (const name of Object.keys(declared)) {
    const output = declared[name] as OutputSpec;
    const value = Object.hasOwn(values, name) ? values[name] : output.default;
    if (value === undefined) {
      if (!problems.some((problem) => problem.includes(`"${name}"`))) problems.push(missing(name));
      continue;
    }
    const leak = output.isSensitive ? undefined : leakOf(name, value, options);
    if (leak !== undefined && options.onLeak === undefined) {
      problems.push(leak);
      continue;
    }
    const kind = kindOf(value);
    if (kind === output.type || (kind === "null" && output.default === null)) {
      result[name] = output.isSensitive ? sensitive(value) : leak === undefined ? value : noted(value, leak, options);
    } else problems.push(`output "${name}": declared as "${output.type}", received "${kind}"`);
  }
  if (problems.length > 0) throw invalid(problems);
  return result;
}

/** The secrets that an output must not hold unless it is declared sensitive. */
export interface LeakOptions {
  readonly granted?: readonly GrantedSecret[];
  /** Takes note of a secret in an output. When absent, such a secret is a problem like any other. */
  readonly onLeak?: ReportLeak | undefined;
}

// A secret in the value of an expression shows by its mark, one in the output of a process by its text.
function leakOf(name: string, value: RuntimeValue, { granted = [] }: LeakOptions): string | undefined {
  if (isSensitive(value)) {
    return `output "${name}": a sensitive value is given to an output that is not declared "sensitive: true"`;
  }
  const secret = secretWithinValue(value, granted);
  if (secret === undefined) return undefined;
  return `output "${name}": it holds the secret "${secret}" and is not declared "sensitive: true"`;
}

function noted(value: RuntimeValue, leak: string, { onLeak }: LeakOptions): RuntimeValue {
  onLeak?.(leak);
  return sensitive(value);
}

function valueOfEntry(entry: OutputEntry, output: OutputSpec | undefined): Value | undefined {
  if (entry.kind === "json") return entry.value;
  if (output === undefined || output.isRaw === true) return entry.text;
  if (output.type === "string") return decodeText(entry.text);
  const parsed = parseJson(entry.text);
  return parsed === undefined ? undefined : importValue(parsed.json);
}

// The message quotes the whole text or nothing: the masker would not recognise a fragment of a secret.
function describeUnreadable(entry: OutputEntry, output: OutputSpec | undefined): string {
  const text = entry.kind === "text" ? entry.text : "";
  const type = output?.type ?? "string";
  const problem =
    parseJson(text) === undefined ? "is not valid JSON" : "is JSON nested too deep, or holds a number out of range";
  const isShown = output?.isSensitive !== true && text.length <= MAX_SHOWN;
  const shown =
    text.trim() === ""
      ? "nothing was written"
      : isShown
        ? `${JSON.stringify(text)} ${problem}`
        : `what was written (${text.length} characters) ${problem}`;
  const needed = SHAPES[type];
  return `output "${entry.name}": declared as "${type}", ${shown}${needed === undefined ? "" : `; write ${needed}`}`;
}

/** The longest text that a message quotes. */
const MAX_SHOWN = 80;

const SHAPES: Readonly<Partial<Record<ValueType, string>>> = {
  number: "a number, such as 4 or 0.5",
  boolean: "true or false",
  array: "a list in JSON on one line",
  struct: "an object in JSON on one line",
};

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof Sensitive);
}

function unexpected(name: string, declared: Readonly<Record<string, OutputSpec>>): string {
  const near = nearest(name, Object.keys(declared));
  const hint = near === undefined ? "" : `, did you mean "${near}"?`;
  return `output ${JSON.stringify(name.slice(0, 80))}: not declared in the step's spec${hint}`;
}

function missing(name: string): string {
  return `output "${name}": declared in the step's spec, but not written`;
}

function invalid(problems: readonly string[]): ExecuteError {
  const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : "";
  return new ExecuteError("OUTPUT_INVALID", `outputs: ${problems.slice(0, MAX_PROBLEMS).join("; ")}${more}`);
}
