import { createObject, isSensitive, reveal, type RuntimeValue, sensitive, type Value } from "@steps/model";
import type { InputSpec, Spec } from "@steps/model/definition";
import { nearest } from "@steps/model/diagnostic";
import { equalValues, formatValue } from "@steps/model/value";
import { loadPatterns, PatternError } from "@steps/model/pattern";
import { coerce, kindOf } from "./coerce.ts";
import { ExecuteError } from "../outcome/execute-error.ts";
import type { ReportLeak } from "./report-leak.ts";

/** The inputs of a step, by name. */
export type Inputs = Readonly<Record<string, RuntimeValue>>;

const MAX_MATCHED_LENGTH = 64 * 1024;

/** Compares the names that a caller gives with the spec; all that is wrong is named. @throws {ExecuteError} INPUT_INVALID */
export function checkInputNames(given: Iterable<string>, spec: Spec): void {
  const names = new Set(given);
  const problems: string[] = [];
  for (const name of names) {
    if (Object.hasOwn(spec.inputs, name)) continue;
    const near = nearest(name, Object.keys(spec.inputs));
    const hint = near === undefined ? "" : `, did you mean "${near}"?`;
    problems.push(`the step has no input "${name}"${hint}`);
  }
  for (const name of Object.keys(spec.inputs)) {
    if (!names.has(name) && spec.inputs[name]?.default === undefined) problems.push(`input "${name}" is required`);
  }
  if (problems.length > 0) throw invalid(problems);
}

/**
 * Expanded inputs as the spec wants them: defaults filled in, values coerced to their types, options and patterns
 * checked, sensitive ones marked. The first group of checks that fails names all its problems
 * (conformance section 20 C32). @throws {ExecuteError} INPUT_INVALID
 */
export async function resolveInputs(
  given: Inputs,
  spec: Spec,
  options: { readonly allowJsonText?: boolean; readonly onLeak?: ReportLeak | undefined } = {},
): Promise<Inputs> {
  const names = Object.keys(spec.inputs);
  const result = createObject<RuntimeValue>();
  const mismatches: string[] = [];
  for (const name of names) {
    const input = spec.inputs[name] as InputSpec;
    const value = Object.hasOwn(given, name) ? given[name] : input.default;
    const typed = value === undefined ? undefined : typedValue(value, input, options);
    if (typed === undefined) {
      const received = value === undefined ? "nothing" : kindOf(value);
      mismatches.push(`input "${name}": declared as "${input.type}", received "${received}"`);
    } else result[name] = input.isSensitive && kindOf(typed) !== "null" ? sensitive(typed) : typed;
  }
  if (mismatches.length > 0) throw invalid(mismatches);
  const { onLeak } = options;
  checkGroup(names, (name) => {
    const problem = leakProblem(name, spec, given);
    if (problem === undefined || onLeak === undefined) return problem;
    onLeak(problem);
    return undefined;
  });
  checkGroup(names, (name) => optionProblem(name, spec.inputs[name] as InputSpec, result[name] as RuntimeValue));
  const unmatched = names.map((name) =>
    matchProblem(name, spec.inputs[name] as InputSpec, result[name] as RuntimeValue),
  );
  const found = await Promise.all(unmatched);
  checkGroup(names, (_, i) => found[i]);
  return result;
}

// A script is made of whatever is pasted into it; everywhere else a step has to say that it can keep a secret.
function leakProblem(name: string, spec: Spec, given: Inputs): string | undefined {
  const isKept = spec.inputs[name]?.isSensitive === true || spec.hasOpenOutputs === true;
  if (isKept || !Object.hasOwn(given, name) || !isSensitive(given[name] as RuntimeValue)) return undefined;
  return `input "${name}": a sensitive value is given to an input that is not declared "sensitive: true"`;
}

/** A value as the input's type; `undefined` if it is of another. */
export function typedValue(
  value: RuntimeValue,
  input: InputSpec,
  options: { readonly allowJsonText?: boolean } = {},
): RuntimeValue | undefined {
  if (kindOf(value) === "null" && input.default === null) return null;
  return coerce(value, input.type, options);
}

function checkGroup(names: readonly string[], check: (name: string, i: number) => string | undefined): void {
  const problems = names.map(check).filter((problem) => problem !== undefined);
  if (problems.length > 0) throw invalid(problems);
}

/** Why a value of the right type is none of the options, if it is none. */
export function optionProblem(name: string, input: InputSpec, runtimeValue: RuntimeValue): string | undefined {
  if (input.options === undefined) return undefined;
  const value = reveal(runtimeValue);
  if (value === null && input.default === null) return undefined;
  if (input.options.some((option) => equalValues(option, value))) return undefined;
  const options = input.options.map((option) => JSON.stringify(option)).join(", ");
  return `input "${name}": ${shown(runtimeValue, value)} is not one of ${options}`;
}

/** Why a value of the right type does not match, if it does not. */
export async function matchProblem(
  name: string,
  input: InputSpec,
  runtimeValue: RuntimeValue,
): Promise<string | undefined> {
  if (input.match === undefined || input.type !== "string") return undefined;
  const value = reveal(runtimeValue);
  if (typeof value !== "string") return undefined;
  if (value.length > MAX_MATCHED_LENGTH) return `input "${name}": the value is too long to be matched`;
  const compile = await loadPatterns();
  try {
    if (compile(input.match, "").test(value)) return undefined;
  } catch (error) {
    if (error instanceof PatternError) return `input "${name}": cannot use "match": ${error.message}`;
    throw error;
  }
  return `input "${name}": ${shown(runtimeValue, value)} does not match "${input.match}"`;
}

function shown(runtimeValue: RuntimeValue, value: Value): string {
  if (isSensitive(runtimeValue)) return "[MASKED]";
  const text = formatValue(value);
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function invalid(problems: readonly string[]): ExecuteError {
  return new ExecuteError("INPUT_INVALID", problems.slice(0, 20).join("; "));
}
