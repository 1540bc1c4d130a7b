import { type Run, tell } from "@steps/executor/kit";
import { evaluateText, hasExpression } from "@steps/github-language";
import {
  createObject,
  isSensitive,
  reveal,
  type RuntimeString,
  type RuntimeValue,
  Sensitive,
  sensitive,
} from "@steps/model";
import type { Spec } from "@steps/model/definition";
import { inputText } from "../job/input-text.ts";
import { findActionProblems } from "./find-action-problems.ts";
import type { ActionCall, ActionInputs } from "../job/action-instance.ts";
import { type ActionScope, evaluationOfDefault } from "../job/action-scope.ts";

/** Notes oddities in the inputs that an action is given. Nothing is refused, as GitHub refuses nothing. */
export function tellInputProblems(
  run: Run,
  { path, opened, given }: Pick<ActionCall, "path" | "opened" | "given">,
): void {
  const { spec, definition } = opened.specDefinition;
  for (const { message, hint } of findActionProblems(Object.keys(given), spec, definition.github)) {
    const text = hint === undefined ? message : `${message}. ${hint}`;
    tell(run, { type: "note", at: Date.now(), path, level: "warning", code: "action-input", message: text });
  }
}

/** The inputs that an action is given, and its defaults for the rest. Names are compared without their case. */
export function resolveActionInputs(
  run: Run,
  scope: ActionScope,
  { spec, given }: { readonly spec: Spec; readonly given: Readonly<Record<string, RuntimeValue>> },
): ActionInputs {
  const inputs = createObject<RuntimeString>();
  const names = new Map(Object.keys(spec.inputs).map((name) => [name.toLowerCase(), name]));
  for (const [name, value] of Object.entries(given)) inputs[names.get(name.toLowerCase()) ?? name] = textOf(value);
  for (const [name, { default: text }] of Object.entries(spec.inputs)) {
    if (!Object.hasOwn(inputs, name)) inputs[name] = text === undefined ? "" : defaultOf(run, scope, inputText(text));
  }
  return inputs;
}

// A default that is the token is as secret as the token.
function defaultOf(run: Run, scope: ActionScope, text: string): RuntimeString {
  if (!hasExpression(text)) return text;
  const value = evaluateText(text, evaluationOfDefault(run, scope));
  const { token } = scope.job.host;
  return token instanceof Sensitive && value === token.value && value !== "" ? sensitive(value) : value;
}

// A list with a secret in it becomes one text, and all of that is the secret.
function textOf(value: RuntimeValue): RuntimeString {
  const text = inputText(reveal(value));
  return isSensitive(value) ? sensitive(text) : text;
}

/** The variables `INPUT_NAME` of all inputs. A name's hyphens stay. */
export function inputEnvironment(inputs: ActionInputs): Record<string, RuntimeString> {
  const env = createObject<RuntimeString>();
  for (const [name, value] of Object.entries(inputs)) env[`INPUT_${name.replaceAll(" ", "_").toUpperCase()}`] = value;
  return env;
}

/** The variables `STATE_name` of the state that earlier phases saved. */
export function stateEnvironment(state: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...state].map(([name, value]) => [`STATE_${name}`, value]));
}
