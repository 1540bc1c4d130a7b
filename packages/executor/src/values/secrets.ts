import {
  createObject,
  reveal,
  revealString,
  type RuntimeString,
  type RuntimeValue,
  Sensitive,
  sensitive,
  type Value,
} from "@steps/model";
import type { Spec } from "@steps/model/definition";
import { nearest } from "@steps/model/diagnostic";
import type { EnvironmentRecord } from "@steps/model/environment";
import { escapePointer, formatValue } from "@steps/model/value";
import { ExecuteError } from "../outcome/execute-error.ts";
import type { Expander } from "./expander.ts";
import type { GrantedSecret } from "../run/level.ts";
import type { StepFiles } from "../run/step-files.ts";

/** A secret shorter than this may turn up by chance. */
const MIN_TRACKED_LENGTH = 6;

/** The secrets that a step was granted: `secrets` for its expressions, `granted` for its process. */
export interface Granted {
  readonly secrets: Readonly<Record<string, RuntimeValue>>;
  readonly granted: readonly GrantedSecret[];
}

/** Returns the `secrets` of the job: its grants, and its masked variables, whose reading is told as an event. */
export function jobSecrets(
  given: EnvironmentRecord,
  variables: EnvironmentRecord,
  vars: RuntimeValue,
): Readonly<Record<string, RuntimeValue>> {
  const secrets = createObject<RuntimeValue>();
  for (const [name, value] of Object.entries(variables)) {
    if (!(value instanceof Sensitive)) continue;
    const get = (): RuntimeValue => (vars as Readonly<Record<string, RuntimeValue>>)[name] ?? null;
    Object.defineProperty(secrets, name, { get, enumerable: true, configurable: true });
  }
  for (const [name, value] of Object.entries(given)) {
    Object.defineProperty(secrets, name, { value: sensitive(value), enumerable: true, configurable: true });
  }
  return secrets;
}

/** Compares the names that a caller grants with what the step asks for. @throws {ExecuteError} SECRET_INVALID */
export function checkSecretNames(given: Iterable<string>, spec: Spec): void {
  const asked = spec.secrets ?? {};
  const names = new Set(given);
  const problems: string[] = [];
  for (const name of names) {
    if (Object.hasOwn(asked, name)) continue;
    const near = nearest(name, Object.keys(asked));
    const hint = near === undefined ? "" : `, did you mean "${near}"?`;
    problems.push(`the step asks for no secret "${name}"${hint}`);
  }
  for (const name of Object.keys(asked)) {
    if (!names.has(name) && asked[name]?.isRequired === true) problems.push(notGranted(name));
  }
  if (problems.length > 0) throw invalid(problems);
}

function notGranted(name: string): string {
  return `secret "${name}" is not granted; write secrets: at the step that calls it`;
}

/** The texts of an invocation's `secrets`, expanded where it stands. @throws {ExecuteError} EXPRESSION_FAILED */
export function expandSecrets(
  expander: Expander,
  secrets: Readonly<Record<string, string>>,
  pointer: string,
): Readonly<Record<string, RuntimeValue>> {
  const result = createObject<RuntimeValue>();
  for (const name of Object.keys(secrets)) {
    const place = { what: `secret "${name}"`, pointer: `${pointer}/secrets/${escapePointer(name)}` };
    result[name] = expander.value(secrets[name] ?? "", place);
  }
  return result;
}

/**
 * Returns the secrets that a step asks for in its spec and was given; all of them are marked. @throws {ExecuteError}
 * SECRET_INVALID
 */
export function resolveSecrets(given: Readonly<Record<string, RuntimeValue>>, spec: Spec): Granted {
  const secrets = createObject<RuntimeValue>();
  const granted: GrantedSecret[] = [];
  const problems: string[] = [];
  for (const [name, asked] of Object.entries(spec.secrets ?? {})) {
    const plain = Object.hasOwn(given, name) ? reveal(given[name] as RuntimeValue) : null;
    const text = textOf(plain);
    if (text === undefined) problems.push(`secret "${name}": a list or an object is given, a text is needed`);
    else if (text.includes("\0") && asked.as === "env") problems.push(`secret "${name}": it holds a NUL character`);
    else if (text === "" && asked.isRequired) problems.push(notGranted(name));
    else if (text === "") secrets[name] = null;
    else {
      const value = sensitive(text);
      secrets[name] = value;
      granted.push({ name, spec: asked, value });
    }
  }
  if (problems.length > 0) throw invalid(problems);
  return { secrets, granted };
}

// Nothing is no secret: what is optional in the caller may be handed on as it is.
function textOf(value: Value): string | undefined {
  if (value === null) return "";
  return typeof value === "object" ? undefined : formatValue(value);
}

/** The variables in which a process finds what its step was granted; a file goes when the step ends. */
export function secretEnvironment(
  granted: readonly GrantedSecret[],
  files: StepFiles,
  path: string,
): Readonly<Record<string, RuntimeString>> {
  const env = createObject<RuntimeString>();
  for (const { name, spec, value } of granted) {
    const text = value as RuntimeString;
    env[spec.env] = spec.as === "file" ? files.privateFile(`secret-${name}`, revealString(text), path) : text;
  }
  return env;
}

/** The secret of the step that a text holds, if there is one. */
export function secretWithin(text: string, granted: readonly GrantedSecret[]): string | undefined {
  return granted.find(({ value }) => {
    const secret = formatValue(reveal(value)).trim();
    return secret.length >= MIN_TRACKED_LENGTH && text.includes(secret);
  })?.name;
}

/** The same for any part of a value, keys included. */
export function secretWithinValue(value: RuntimeValue, granted: readonly GrantedSecret[]): string | undefined {
  if (granted.length === 0) return undefined;
  if (typeof value === "string") return secretWithin(value, granted);
  if (typeof value !== "object" || value === null) return secretWithin(String(value), granted);
  for (const [key, item] of Object.entries(reveal(value) as object)) {
    const found = secretWithin(key, granted) ?? secretWithinValue(item as Value, granted);
    if (found !== undefined) return found;
  }
  return undefined;
}

function invalid(problems: readonly string[]): ExecuteError {
  return new ExecuteError("SECRET_INVALID", problems.slice(0, 20).join("; "));
}
